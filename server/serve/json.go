// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/internal/rawjson"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

type jsonEncoding struct{}

func (jsonEncoding) single(data []byte, kind metav1.TypeMeta) ([]byte, error) {
	if !isPartial(kind) {
		return data, nil
	}
	return appendPartial(nil, data, kind.APIVersion)
}

func appendPartial(dst, data []byte, apiVersion string) ([]byte, error) {
	metadata, err := rawjson.Metadata(data)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `{"kind":"`+partialKind+`","apiVersion":"`+apiVersion+`","metadata":`...)
	return append(append(dst, metadata...), '}'), nil
}

func (jsonEncoding) list(out io.Writer, objects []*watchcache.Object, meta listMeta, kind metav1.TypeMeta) error {
	head, err := json.Marshal(struct {
		metav1.TypeMeta
		Meta listMeta `json:"metadata"`
	}{metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind + "List"}, meta})
	if err != nil {
		return err
	}
	buffer := append(head[:len(head)-1], `,"items":[`...)
	for i, o := range objects {
		if i > 0 {
			buffer = append(buffer, ',')
		}
		data := o.Bytes
		if isPartial(kind) {
			if buffer, err = appendPartial(buffer, data, kind.APIVersion); err != nil {
				return err
			}
			data = nil
		}
		if _, err := out.Write(buffer); err != nil {
			return err
		}
		if _, err := out.Write(data); err != nil {
			return err
		}
		buffer = buffer[:0]
	}
	_, err = out.Write(append(buffer, "]}\n"...))
	return err
}

func (jsonEncoding) events(kind metav1.TypeMeta) (watchcache.Format, string) {
	if isPartial(kind) {
		return metadataEvents{kind.APIVersion}, string(request.JSON)
	}
	return watchcache.JSON{APIVersion: kind.APIVersion, Kind: kind.Kind}, string(request.JSON)
}

func (jsonEncoding) failure(status *metav1.Status) []byte {
	event, err := json.Marshal(struct {
		Type   string         `json:"type"`
		Object *metav1.Status `json:"object"`
	}{string(watch.Error), status})
	if err != nil {
		return nil
	}
	return append(event, '\n')
}

type metadataEvents struct{ apiVersion string }

// AppendEvent appends an event as a line of JSON.
func (m metadataEvents) AppendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	format := watchcache.JSON{APIVersion: m.apiVersion, Kind: partialKind}
	if e.Object == nil {
		return format.AppendEvent(dst, e)
	}
	data, err := appendPartial(nil, e.Object.Bytes, m.apiVersion)
	if err != nil {
		return nil, err
	}
	partial := *e.Object
	partial.Bytes = data
	e.Object = &partial
	return format.AppendEvent(dst, e)
}
