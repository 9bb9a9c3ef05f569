// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// rendering writes objects of one kind as an API server does in one format.
type rendering interface {
	contentType(watch bool) string
	// item is an object in a list, and event is one in a watch. separator is the number of bytes
	// between two items.
	item(runtime.Object) ([]byte, error)
	separator() int64
	event(watch.EventType, runtime.Object) ([]byte, error)
	// head and tail stand around the items of a list, which have so many bytes.
	head(meta metav1.ListMeta, itemBytes int64) []byte
	tail(meta metav1.ListMeta) []byte
	// bookmark ends the initial events of a watch-list.
	bookmark(resourceVersion string) ([]byte, error)
}

func newRendering(k kind, protobuf bool) rendering {
	if protobuf {
		return protobufRendering{k}
	}
	return jsonRendering{k}
}

// initialEventsEnd is an object of which a server fills in nothing else.
func initialEventsEnd(k kind, resourceVersion string) runtime.Object {
	m := metav1.ObjectMeta{ResourceVersion: resourceVersion, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	t := metav1.TypeMeta{Kind: k.name, APIVersion: k.resource.GroupVersion().String()}
	if k.builtIn {
		return &corev1.Pod{TypeMeta: t, ObjectMeta: m}
	}
	return &metav1.PartialObjectMetadata{TypeMeta: t, ObjectMeta: m}
}

// expired is the status of an ERROR event, or of an answer, for a resourceVersion that the server
// has forgotten.
func expired() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old resource version",
	}
}

type jsonRendering struct{ kind kind }

func (jsonRendering) contentType(bool) string { return runtime.ContentTypeJSON }

// object writes fields in the order of the Go type, for which a server has one; custom resources
// pass through it as maps, whose names come out sorted.
func (j jsonRendering) object(obj runtime.Object) ([]byte, error) {
	text, err := json.Marshal(obj)
	if err != nil || j.kind.builtIn {
		return text, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

func (j jsonRendering) item(obj runtime.Object) ([]byte, error) {
	text, err := j.object(obj)
	text = append(text, ',')
	if err != nil || !j.kind.builtIn {
		return text, err
	}
	gvk := j.kind.gvk()
	kindless, ok := bytes.CutPrefix(text, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, gvk.Kind, gvk.GroupVersion()))
	if !ok {
		return nil, fmt.Errorf("%s does not begin with its kind: %.60s", gvk.Kind, text)
	}
	return append([]byte("{"), kindless...), nil
}

func (j jsonRendering) event(t watch.EventType, obj runtime.Object) ([]byte, error) {
	text, err := j.object(obj)
	return fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", t, text), err
}

func (j jsonRendering) head(m metav1.ListMeta, _ int64) []byte {
	if j.kind.builtIn {
		return fmt.Appendf(nil, `{"kind":"%sList","apiVersion":%q,"metadata":%s,"items":[`, j.kind.name, j.kind.resource.GroupVersion(), listMeta(m))
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"items":[`, j.kind.resource.GroupVersion())
}

func listMeta(m metav1.ListMeta) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has strings and numbers
	}
	return text
}

func (jsonRendering) separator() int64 { return 1 }

func (j jsonRendering) tail(m metav1.ListMeta) []byte {
	if j.kind.builtIn {
		return []byte("]}\n")
	}
	return fmt.Appendf(nil, `],"kind":"%sList","metadata":%s}`+"\n", j.kind.name, listMeta(m))
}

func (j jsonRendering) bookmark(resourceVersion string) ([]byte, error) {
	return j.event(watch.Bookmark, initialEventsEnd(j.kind, resourceVersion))
}

// protobufRendering writes the envelope of Kubernetes: four bytes, then a runtime.Unknown with the
// object in it.
type protobufRendering struct{ kind kind }

// envelopeMagic begins everything but the events of a watch.
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
		panic(err) // it has strings and numbers
	}
	meta = append(field(1, len(meta)), meta...)
	return append(envelope(p.kind.resource.GroupVersion().String(), p.kind.name+"List", int64(len(meta))+itemBytes), meta...)
}

func (protobufRendering) separator() int64 { return 0 }

func (protobufRendering) tail(metav1.ListMeta) []byte { return []byte(envelopeTail) }

func (p protobufRendering) bookmark(resourceVersion string) ([]byte, error) {
	return p.event(watch.Bookmark, initialEventsEnd(p.kind, resourceVersion))
}

// envelope is what stands before an object of so many bytes: magic, Unknown.typeMeta, the beginning
// of Unknown.raw.
func envelope(apiVersion, kind string, size int64) []byte {
	t := append(field(1, len(apiVersion)), apiVersion...)
	t = append(append(t, field(2, len(kind))...), kind...)
	head := append([]byte(envelopeMagic), field(1, len(t))...)
	head = append(head, t...)
	return binary.AppendUvarint(append(head, 2<<3|2), uint64(size))
}

// envelopeTail is what stands behind it: Unknown.contentEncoding and Unknown.contentType, both "".
const envelopeTail = "\x1a\x00\x22\x00"

// field begins a length-delimited field of protobuf.
func field(number, size int) []byte {
	return binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(size))
}
