// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

type encoding interface {
	single(data []byte, kind metav1.TypeMeta) ([]byte, error)
	// list writes a list of objects of a kind. It fails if an object is malformed, or if out fails.
	list(out io.Writer, objects []*watchcache.Object, meta listMeta, kind metav1.TypeMeta) error
	// events returns the format of events about objects of a kind, and its media type.
	events(kind metav1.TypeMeta) (watchcache.Format, string)
	// failure returns the event that ends a watch with a status, or nil if it can't be encoded.
	failure(status *metav1.Status) []byte
}

func encodingOf(format request.Format) encoding {
	if format == request.Protobuf {
		return protobufEncoding{}
	}
	return jsonEncoding{}
}

type listMeta struct {
	metav1.ListMeta
	// Shard is the requested part of the collection; nil for all. Older versions of apimachinery
	// lack it.
	Shard *shardInfo `json:"shardInfo,omitempty"`
}

type shardInfo struct {
	Selector string `json:"selector"`
}

const partialKind = "PartialObjectMetadata"

// kindOf returns the type sent to clients: the objects' own, or, if partial is a version of
// meta.k8s.io, their metadata's.
func kindOf(res Resource, partial string) metav1.TypeMeta {
	if partial != "" {
		return metav1.TypeMeta{APIVersion: metav1.GroupName + "/" + partial, Kind: partialKind}
	}
	return metav1.TypeMeta{APIVersion: res.GroupVersion().String(), Kind: res.Kind}
}

func isPartial(kind metav1.TypeMeta) bool { return kind.Kind == partialKind }

func (h *Handler) writeObject(w http.ResponseWriter, code int, data []byte, res Resource, r *request.Request) error {
	data, err := encodingOf(r.Format).single(data, kindOf(res, r.Partial))
	if err != nil {
		return err
	}
	h.writeAll(w, code, r.Format, data, r.Gzip)
	return nil
}

// writeList answers with a list. If an object is malformed, or the client has gone, it aborts the
// connection, since the answer has begun.
func (h *Handler) writeList(w http.ResponseWriter, objects []*watchcache.Object, meta listMeta, res Resource, r *request.Request) {
	size := 0
	for _, o := range objects {
		size += len(o.Bytes)
	}
	out := h.begin(w, http.StatusOK, r.Format, size, r.Gzip)
	if err := encodingOf(r.Format).list(out, objects, meta, kindOf(res, r.Partial)); err != nil {
		panic(http.ErrAbortHandler)
	}
	out.end()
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }
