// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/rawjson"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/request"
)

const partialKind = "PartialObjectMetadata"

// kindOf returns the type that clients get to see: that of the objects, or of their metadata in a
// version of meta.k8s.io.
func kindOf(res Resource, partial string) metav1.TypeMeta {
	if partial != "" {
		return metav1.TypeMeta{APIVersion: metav1.GroupName + "/" + partial, Kind: partialKind}
	}
	return metav1.TypeMeta{APIVersion: res.GroupVersion().String(), Kind: res.Kind}
}

// appendPartial appends the metadata of an object's JSON as an object of a version of meta.k8s.io.
func appendPartial(dst, data []byte, version string) ([]byte, error) {
	metadata, err := rawjson.Metadata(data)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"kind":"`+partialKind+`","apiVersion":"`+metav1.GroupName+`/`+version+`","metadata":`...)
	return append(append(dst, metadata...), '}'), nil
}

// writeList writes a list by copying the bytes of its objects. An object that has no metadata to
// cut out ends the connection, since the answer has begun.
func (h *Handler) writeList(w http.ResponseWriter, list []*watchcache.Object, meta metav1.ListMeta, kind metav1.TypeMeta, r *request.Request) error {
	kind.Kind += "List"
	head, err := json.Marshal(struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
	}{kind, meta})
	if err != nil {
		return err
	}
	size := 0
	for _, obj := range list {
		size += len(obj.Bytes)
	}
	out := h.begin(w, size, r.Gzip)
	defer out.end()
	out.Write(head[:len(head)-1])
	out.WriteString(`,"items":[`)
	var buffer []byte
	for i, obj := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		data := obj.Bytes
		if r.Partial != "" {
			if buffer, err = appendPartial(buffer[:0], data, r.Partial); err != nil {
				panic(http.ErrAbortHandler)
			}
			data = buffer
		}
		if _, err := out.Write(data); err != nil {
			return nil // the client has gone
		}
	}
	out.WriteString("]}\n")
	return nil
}

// metadataEvents is the format of watches that ask for metadata, in a version of meta.k8s.io.
type metadataEvents struct{ version string }

// AppendEvent appends an event as a line of JSON.
func (m metadataEvents) AppendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	plain := watchcache.JSON{APIVersion: metav1.GroupName + "/" + m.version, Kind: partialKind}
	if e.Object == nil {
		return plain.AppendEvent(dst, e)
	}
	data, err := appendPartial(nil, e.Object.Bytes, m.version)
	if err != nil {
		return nil, err
	}
	partial := *e.Object
	partial.Bytes = data
	e.Object = &partial
	return plain.AppendEvent(dst, e)
}

func format(version uint64) string { return strconv.FormatUint(version, 10) }
