// SPDX-License-Identifier: Apache-2.0

package protobuf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// decode decodes an envelope with Kubernetes' serializer.
func decode(t *testing.T, data []byte, into runtime.Object) {
	t.Helper()
	if _, _, err := serializer.NewSerializer(scheme.Scheme, scheme.Scheme).Decode(data, nil, into); err != nil {
		t.Fatalf("decoding %q: %v", data, err)
	}
}

func TestAppendObject(t *testing.T) {
	pod := newPod()
	data := protobuf.AppendObject([]byte("before"), podKind, marshal(t, pod))
	rest, ok := bytes.CutPrefix(data, []byte("before"))
	if !ok {
		t.Fatalf("AppendObject returned %q, want the given prefix", data)
	}
	var got corev1.Pod
	decode(t, rest, &got)
	pod.TypeMeta = got.TypeMeta
	if !reflect.DeepEqual(&got, pod) {
		t.Errorf("got %+v, want %+v", &got, pod)
	}
}

func TestWriteList(t *testing.T) {
	one, two := newPod(), newPod()
	two.Name = "two"
	meta := metav1.ListMeta{ResourceVersion: "50", Continue: "next"}
	for _, want := range [][]*corev1.Pod{nil, {one}, {one, two}} {
		var items [][]byte
		for _, pod := range want {
			items = append(items, marshal(t, pod))
		}
		var out bytes.Buffer
		if err := protobuf.WriteList(&out, metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, meta, "", slices.Values(items)); err != nil {
			t.Fatal(err)
		}
		var list corev1.PodList
		decode(t, out.Bytes(), &list)
		if list.ListMeta != meta || len(list.Items) != len(want) {
			t.Fatalf("got %+v, want %d Pods", list, len(want))
		}
		for i := range want {
			if !reflect.DeepEqual(&list.Items[i], want[i]) {
				t.Errorf("got %+v, want %+v", list.Items[i], want[i])
			}
		}
		for room := range 4 {
			if err := protobuf.WriteList(&limitedWriter{room}, metav1.TypeMeta{}, meta, "", slices.Values(items)); room <= 2*len(items) != (err != nil) {
				t.Errorf("WriteList of %d items with room for %d writes: got %v", len(items), room, err)
			}
		}
	}
}

// limitedWriter is a Writer that fails after some writes.
type limitedWriter struct{ room int }

func (f *limitedWriter) Write(p []byte) (int, error) {
	if f.room--; f.room < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestAppendEvent(t *testing.T) {
	pod := newPod()
	full := protobuf.Format{TypeMeta: podKind}
	partial := protobuf.Format{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}, MetadataOnly: true}
	o, err := newReader(t, nil).Read(marshal(t, pod))
	if err != nil {
		t.Fatal(err)
	}
	bookmark := &metav1.ObjectMeta{ResourceVersion: "43"}
	end := &metav1.ObjectMeta{ResourceVersion: "43", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	later := pod.ObjectMeta.DeepCopy()
	later.ResourceVersion = "43"
	for _, test := range []struct {
		event watchcache.Event
		want  *metav1.ObjectMeta
	}{
		{watchcache.Event{Type: watch.Added, Object: o, Version: 42}, &pod.ObjectMeta},
		{watchcache.Event{Type: watch.Deleted, Object: o, Version: 43}, later},
		{watchcache.Event{Type: watch.Bookmark, Version: 43}, bookmark},
		{watchcache.Event{Type: watch.Bookmark, Version: 43, InitialEnd: true}, end},
	} {
		for _, format := range []protobuf.Format{full, partial} {
			frame, err := format.AppendEvent([]byte("before"), test.event)
			if err != nil {
				t.Fatal(err)
			}
			frame = frame[len("before"):]
			if size := binary.BigEndian.Uint32(frame); int(size) != len(frame)-4 {
				t.Errorf("the length is %d, want %d", size, len(frame)-4)
			}
			var event metav1.WatchEvent
			if err := event.Unmarshal(frame[4:]); err != nil || event.Type != string(test.event.Type) {
				t.Fatalf("decoding %q: got %s, %v; want %s", frame, event.Type, err, test.event.Type)
			}
			var metadata metav1.ObjectMeta
			var spec corev1.PodSpec
			if format == full {
				var got corev1.Pod
				decode(t, event.Object.Raw, &got)
				metadata, spec = got.ObjectMeta, got.Spec
			} else {
				var got metav1.PartialObjectMetadata
				decode(t, event.Object.Raw, &got)
				metadata = got.ObjectMeta
			}
			if !reflect.DeepEqual(&metadata, test.want) {
				t.Errorf("got  %+v\nwant %+v", &metadata, test.want)
			}
			if want := format == full && test.event.Object != nil; want != (spec.NodeName == "n1") {
				t.Errorf("%s, MetadataOnly %t: the spec is %+v", event.Type, format.MetadataOnly, spec)
			}
		}
	}
	broken := watchcache.Event{Type: watch.Deleted, Object: &watchcache.Object{Bytes: []byte("\x0a\x05")}, Version: 1}
	for _, format := range []protobuf.Format{full, partial} {
		if _, err := format.AppendEvent(nil, broken); err == nil || !strings.Contains(err.Error(), "malformed protobuf") {
			t.Errorf("AppendEvent of a malformed object: got %v, want an error", err)
		}
	}
}

func TestMetadata(t *testing.T) {
	for data, want := range map[string]string{
		"\x0a\x05\x0a\x03one\x12\x02\x08\x01": "\x0a\x05\x0a\x03one",
		"\x12\x02\x08\x01\x0a\x05\x0a\x03one": "\x0a\x05\x0a\x03one",
	} {
		if got, err := protobuf.Metadata([]byte(data)); err != nil || string(got) != want {
			t.Errorf("Metadata(%q) = %q, %v; want %q", data, got, err, want)
		}
	}
	for _, data := range []string{"", "\x12\x02\x08\x01", "\x0a\x05"} {
		if got, err := protobuf.Metadata([]byte(data)); err == nil {
			t.Errorf("Metadata(%q) = %q, want an error", data, got)
		}
	}
}
