// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/binary"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/bench/data"
)

// protobufRendering writes the envelope of Kubernetes: four bytes, then a runtime.Unknown around
// the object.
type protobufRendering struct{ kind data.Kind }

// envelopeMagic begins everything except the events of a watch.
const envelopeMagic = "k8s\x00"

func (protobufRendering) contentType(watch bool) string {
	if watch {
		return runtime.ContentTypeProtobuf + ";stream=watch"
	}
	return runtime.ContentTypeProtobuf
}

type protobufMarshaler interface{ Marshal() ([]byte, error) }

func marshalProtobuf(obj any) ([]byte, error) {
	m, ok := obj.(protobufMarshaler)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf", obj)
	}
	return m.Marshal()
}

func (protobufRendering) item(obj runtime.Object) ([]byte, error) {
	text, err := marshalProtobuf(obj)
	return append(field(2, len(text)), text...), err // list.items
}

func (p protobufRendering) event(t watch.EventType, obj runtime.Object) ([]byte, error) {
	text, err := marshalProtobuf(obj)
	if err != nil {
		return nil, err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	raw := append(envelope(gvk.GroupVersion().String(), gvk.Kind, int64(len(text))), text...)
	event, err := marshalProtobuf(&metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: append(raw, envelopeTail...)}})
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...), err
}

func (p protobufRendering) head(m metav1.ListMeta, itemBytes int64) []byte {
	meta, err := m.Marshal()
	if err != nil {
		panic(err) // it has only strings and numbers
	}
	meta = append(field(1, len(meta)), meta...)
	return append(envelope(p.kind.Resource.GroupVersion().String(), p.kind.Name+"List", int64(len(meta))+itemBytes), meta...)
}

func (protobufRendering) separator() int64 { return 0 }

func (protobufRendering) tail(metav1.ListMeta) []byte { return []byte(envelopeTail) }

func (p protobufRendering) bookmark(resourceVersion string) ([]byte, error) {
	obj, err := initialEventsEnd(p.kind, resourceVersion)
	if err != nil {
		return nil, err
	}
	return p.event(watch.Bookmark, obj)
}

// envelope returns the bytes before an object of the given size: magic, Unknown.typeMeta, the
// beginning of Unknown.raw.
func envelope(apiVersion, kind string, size int64) []byte {
	t := append(field(1, len(apiVersion)), apiVersion...)
	t = append(append(t, field(2, len(kind))...), kind...)
	head := append([]byte(envelopeMagic), field(1, len(t))...)
	head = append(head, t...)
	return binary.AppendUvarint(append(head, 2<<3|2), uint64(size))
}

// envelopeTail follows it: Unknown.contentEncoding and Unknown.contentType, both "".
const envelopeTail = "\x1a\x00\x22\x00"

// field begins a length-delimited field of protobuf.
func field(number, size int) []byte {
	return binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(size))
}
