// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestProgramIsCompiledOnce checks that two codecs of a type share one program.
func TestProgramIsCompiledOnce(t *testing.T) {
	for _, opts := range []Options{{}, {DropManagedFields: true, DropAnnotations: []string{"a", "b"}}, {DropManagedFields: true, DropAnnotations: []string{"b", "a"}}} {
		for _, f := range []Format{JSON, Protobuf} {
			var decoders []any
			for range 2 {
				c := mustCodec(t, opts, newPod)
				if f == JSON {
					decoders = append(decoders, reflect.ValueOf(c.fastJSON(true)).Elem().FieldByName("program").Pointer())
				} else {
					decoders = append(decoders, reflect.ValueOf(c.fastProto(true)).Elem().FieldByName("program").Pointer())
				}
			}
			if decoders[0] != decoders[1] {
				t.Errorf("%v with %+v: two codecs of Pods have two programs", f, opts)
			}
		}
	}
}

// fusedObject has parts with a decoding method that may panic.
type fusedObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Parts             []fusedPart `json:"parts"`
}

type fusedPart struct {
	Text   string            `json:"text"`
	Labels map[string]string `json:"labels"`
	Fuse   fuse              `json:"fuse"`
}

func (f *fusedObject) DeepCopyObject() k8sruntime.Object { panic("not needed") }

type fuse struct{}

func (*fuse) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"panic"`:
		panic("on purpose")
	case `"exit"`:
		runtime.Goexit()
	}
	return nil
}

// TestDecoderAfterPanic panics, or exits the goroutine, in a type's decoding method and in
// NewObject. The pooled decoder must decode the next stream correctly.
func TestDecoderAfterPanic(t *testing.T) {
	list := func(fuses string) string {
		var items []string
		for i := range 40 {
			fuse := "later"
			if i == 30 {
				fuse = fuses
			}
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"a-%d","resourceVersion":"1","labels":{"app":"web"}},"parts":[`+
				`{"text":"%[1]d","labels":{"a":"b"}},{"labels":{"a":"b"},"text":"two","fuse":%q}]}`, i, fuse))
		}
		return `{"kind":"FusedList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`
	}
	body, panics := list("later"), false
	for name, sizes := range map[string]bufferSizes{"usual": defaultSizes, "tiny": tinySizes} {
		s := newReader(t, JSON, nil, func() object.Object {
			if panics {
				panic("on purpose")
			}
			return &fusedObject{}
		}, Options{Kind: "Fused"})
		s.body = func() io.ReadCloser { return io.NopCloser(strings.NewReader(body)) }
		s.codec.sizes = sizes
		read := func() (got []object.Object, reason any) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if r := recover(); r != nil {
						reason = r
					}
				}()
				_, err := s.List(t.Context(), Promises{ReadOnly: true}, func(o object.Object) error { got = append(got, o); return nil })
				if err != nil {
					reason = err
				}
			}()
			<-done
			return got, reason
		}
		body, panics = list("later"), false
		want, _ := read()
		if len(want) != 40 {
			t.Fatalf("%s: got %d objects, want 40", name, len(want))
		}
		for _, how := range []string{"panic", "exit", "new"} {
			body, panics = list(how), how == "new"
			if got, reason := read(); reason == nil && how != "exit" || len(got) > 30 {
				t.Errorf("%s: %s: got %d objects and %v, want at most 30 and a failure", name, how, len(got), reason)
			}
			body, panics = list("later"), false
			if got, reason := read(); reason != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: after %s: got %d objects and %v, want the first list again", name, how, len(got), reason)
			}
		}
	}
}

// TestNewObjectReturnsNil has a NewObject that returns nil after the first call.
func TestNewObjectReturnsNil(t *testing.T) {
	for _, first := range []object.Object{&corev1.Pod{}, &unstructured.Unstructured{}} {
		for _, f := range allFormats {
			n := 0
			newObject := func() object.Object {
				if n++; n == 1 {
					return first
				}
				return nil
			}
			s := newReader(t, f, podtest.Transcode(t, []byte(podtest.List("7", podtest.Pod("a", "1"))), f), newObject, Options{})
			if !s.codec.Has(f) {
				continue
			}
			if _, _, err := listAll(s); !errors.Is(err, errNoNewObject) {
				t.Errorf("%T from %v: got error %v, want errNoNewObject", first, f, err)
			}
		}
	}
}
