// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// These types have the methods of an embedded type, which decode only that.
type (
	promotedMeta struct {
		metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
		kind              metav1.TypeMeta
	}
	promotedPod struct {
		corev1.Pod `json:",inline"`
		Extra      string `json:"extra"`
	}
	promotedTagged struct {
		corev1.Pod `json:",inline" protobuf:"bytes,1,opt,name=pod"`
	}
)

func (p *promotedMeta) GetObjectKind() schema.ObjectKind { return &p.kind }
func (p *promotedMeta) DeepCopyObject() runtime.Object   { return p }

func TestIsProtobuf(t *testing.T) {
	for _, tc := range []struct {
		sample object.Object
		want   bool
	}{
		{&corev1.Pod{}, true},
		{&corev1.ConfigMap{}, true},
		{&appsv1.Deployment{}, true},
		{&metav1.PartialObjectMetadata{}, true},
		{&unstructured.Unstructured{}, false},
		{&kitchenSink{}, false},
		{&pointerMeta{}, false},
		{&promotedMeta{}, false},
		{&promotedPod{}, false},
		// its tag makes it a field of a message, and it decodes as a Pod
		{&promotedTagged{}, true},
	} {
		if got := isProtobuf(tc.sample); got != tc.want {
			t.Errorf("isProtobuf(%T) = %v, want %v", tc.sample, got, tc.want)
		}
	}
}

// TestProtobufInAnotherEncoding checks that objects compressed within their envelope are refused.
func TestProtobufInAnotherEncoding(t *testing.T) {
	list := podtest.Transcode(t, []byte(podtest.List("7", podtest.Large(1))), Protobuf)
	for encoding, want := range map[string]error{"": nil, "gzip": ErrMalformed} {
		body := protowire.AppendBytes(bytes.Clone(list), 3, []byte(encoding))
		if _, _, err := listAll(newReader(t, Protobuf, body, newPod, Options{Kind: "Pod"})); !errors.Is(err, want) {
			t.Errorf("list encoded as %q: got error %v, want %v", encoding, err, want)
		}
		object := protowire.AppendBytes(podtest.Encode(t, Protobuf, podtest.LargeObject(t, 1)), 3, []byte(encoding))
		event := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("ADDED")), 2, protowire.AppendBytes(nil, 1, object))
		body = append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
		if _, err := watchAll(newReader(t, Protobuf, body, newPod, Options{Kind: "Pod"})); !errors.Is(err, want) {
			t.Errorf("event encoded as %q: got error %v, want %v", encoding, err, want)
		}
	}
}
