// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// slowReader reads in small pieces, as from a network.
type slowReader struct{ io.Reader }

func (d slowReader) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(len(p), 512)]) }

// readWithin reads a response to its end. It fails after a minute: linear time takes a moment,
// quadratic time much longer.
func readWithin(t *testing.T, f Format, opts Options, newObject func() object.Object, verb string, body []byte) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		s := newStream(t.Context(), mustCodec(t, opts, newObject), io.NopCloser(slowReader{bytes.NewReader(body)}), f)
		defer s.Close()
		if verb == "list" {
			l := listReader{stream: s, deliver: func(object.Object) error { return nil }}
			_, err := l.read()
			done <- err
			return
		}
		w := watchReader{stream: s, deliver: func(*Item) error { return nil }}
		done <- w.read()
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("reading %d bytes takes more than a minute", len(body))
		return nil
	}
}

// TestEndlessJSONTakesLinearTime reads values that don't end within the limit.
func TestEndlessJSONTakesLinearTime(t *testing.T) {
	const (
		size  = 8 << 20
		list  = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`
		named = list + `{"metadata":{"name":"a","resourceVersion":"1"`
	)
	ones := strings.Repeat("1", size)
	for name, tc := range map[string]struct {
		verb, body string
		newObject  func() object.Object
		fails      bool
	}{
		"a number":              {"list", list + ones, newPod, true},
		"a string":              {"list", list + `"` + ones, newPod, true},
		"white space":           {"list", list + strings.Repeat(" ", size), newPod, true},
		"white space inside":    {"list", list + "{" + strings.Repeat("\n", size), newPod, true},
		"a number before items": {"list", `{"metadata":` + ones, newPod, true},
		"a name":                {"list", `{"` + strings.Repeat(`\"`, size/2), newPod, true},
		"an event":              {"watch", `{"type":"ADDED","object":{"x":` + ones, newPod, true},
		"a number in an object": {"list", named + `,"generation":` + ones + `}}]}`, newPod, true},
		"an untyped number":     {"list", named + `,"generation":` + ones + `}}]}`, newUntyped, true},
		"an untyped fraction":   {"list", named + `},"x":0.` + ones + `}]}`, newUntyped, false},
		"metadata repeated":     {"list", list + "{" + strings.Repeat(`"metadata":{"name":"a"},`, size/24) + `"metadata":{"resourceVersion":"1"}}]}`, newPod, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readWithin(t, JSON, Options{}, tc.newObject, tc.verb, []byte(tc.body)); (err != nil) != tc.fails {
				t.Errorf("got error %.300v, want one: %v", err, tc.fails)
			}
		})
	}
}

// TestDroppingTakesLinearTime drops parts that occur very often in one object.
func TestDroppingTakesLinearTime(t *testing.T) {
	const size = 8 << 20
	repeated := func(parts ...[]byte) []byte {
		part := bytes.Join(parts, nil)
		return bytes.Repeat(part, size/len(part))
	}
	name := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("a")), 6, []byte("1"))
	const annotations = 12 // the number of the field
	annotation := func(key string) []byte {
		return protowire.AppendBytes(nil, annotations, protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte(key)), 2, []byte("x")))
	}
	protoItem := func(item ...[]byte) []byte {
		typeMeta := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("v1")), 2, []byte("PodList"))
		list := protowire.AppendBytes(protowire.AppendBytes(nil, 1, protowire.AppendBytes(nil, 2, []byte("7"))), 2, bytes.Join(item, nil))
		return protowire.AppendBytes(protowire.AppendBytes([]byte(protoPrefix), 1, typeMeta), 2, list)
	}
	meta := func(fields ...[]byte) []byte { return protowire.AppendBytes(nil, 1, bytes.Join(fields, nil)) }
	opts := Options{DropManagedFields: true, DropAnnotations: []string{"drop"}}
	for name, tc := range map[string]struct {
		f    Format
		body []byte
	}{
		"protobuf, metadata":         {Protobuf, protoItem(repeated(meta(name, annotation("drop")), protowire.AppendBytes(nil, 2, nil)))},
		"protobuf, annotations":      {Protobuf, protoItem(meta(name, repeated(annotation("drop"), annotation("keep"))))},
		"protobuf, unknown fields":   {Protobuf, protoItem(meta(name), repeated([]byte{0x78, 1, 0x70, 1}))},
		"protobuf, unknown metadata": {Protobuf, protoItem(meta(name, repeated([]byte{0xf8, 1, 1, 0xf0, 1, 1})))},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readWithin(t, tc.f, opts, newPod, "list", tc.body); err != nil {
				t.Errorf("got error %.300v", err)
			}
		})
	}
}

// nestedObject is a kind with nested values, like the schemas in a CustomResourceDefinition. Its
// Unmarshal is recursive, like a generated one.
type nestedObject struct {
	metav1.TypeMeta
	metav1.ObjectMeta `protobuf:"bytes,1,opt,name=metadata"`
	Next              *nestedObject `protobuf:"bytes,2,opt,name=next"`
}

func (c *nestedObject) DeepCopyObject() runtime.Object { return c }
func (c *nestedObject) Reset()                         { *c = nestedObject{} }
func (c *nestedObject) Marshal() ([]byte, error)       { return nil, errors.ErrUnsupported }

func (c *nestedObject) Unmarshal(msg []byte) error {
	for len(msg) > 0 {
		f, rest, err := protowire.Next(msg)
		if err != nil {
			return err
		}
		msg = rest
		switch f.Tag {
		case protowire.Bytes(1):
			err = c.ObjectMeta.Unmarshal(f.Value)
		case protowire.Bytes(2):
			c.Next = &nestedObject{}
			err = c.Next.Unmarshal(f.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestDeepProtobufIsRefused guards generated Unmarshal methods, which don't limit the nesting.
func TestDeepProtobufIsRefused(t *testing.T) {
	meta := protowire.AppendBytes(nil, 1, protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("a")), 6, []byte("1")))
	typeMeta := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("v1")), 2, []byte("nestedObjectList"))
	for _, depth := range []int{100, protowire.MaxDepth, protowire.MaxDepth + 1} {
		// each level begins with its size, so levels are built from the inside out
		size, heads := 0, [][]byte(nil)
		for range depth {
			head := binary.AppendUvarint([]byte{2<<3 | 2}, uint64(size))
			size += len(head)
			heads = append(heads, head)
		}
		slices.Reverse(heads)
		item := append(slices.Clip(meta), bytes.Join(heads, nil)...)
		list := protowire.AppendBytes(protowire.AppendBytes(nil, 1, protowire.AppendBytes(nil, 2, []byte("7"))), 2, item)
		body := protowire.AppendBytes(protowire.AppendBytes([]byte(protoPrefix), 1, typeMeta), 2, list)
		err := readWithin(t, Protobuf, Options{}, func() object.Object { return &nestedObject{} }, "list", body)
		if got := err != nil; got != (depth > protowire.MaxDepth) || got && !strings.Contains(err.Error(), protowire.ErrDepth.Error()) {
			t.Errorf("depth %d: got error %.300v", depth, err)
		}
	}
}

// TestQuantitiesTakeBoundedTime has exponents for which resource.ParseQuantity takes minutes.
func TestQuantitiesTakeBoundedTime(t *testing.T) {
	const (
		list  = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","resourceVersion":"1"},`
		small = `"spec":{"overhead":{"cpu":"1e-99999999"}}`
	)
	entry := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("cpu")), 2, protowire.AppendBytes(nil, 1, []byte("1e-99999999")))
	pod := protowire.AppendBytes(protowire.AppendBytes(nil, 1, protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("a")), 6, []byte("1"))), 2, protowire.AppendBytes(nil, 32, entry))
	typeMeta := protowire.AppendBytes(protowire.AppendBytes(nil, 1, []byte("v1")), 2, []byte("PodList"))
	protoList := protowire.AppendBytes(protowire.AppendBytes(nil, 1, protowire.AppendBytes(nil, 2, []byte("7"))), 2, pod)
	for name, tc := range map[string]struct {
		f     Format
		body  string
		fails bool
	}{
		"JSON":                  {JSON, list + small + `}]}`, false},
		"JSON that is declined": {JSON, list + `"spec":{},` + small + `}]}`, false},
		"JSON, a large number":  {JSON, list + `"spec":{"overhead":{"cpu":"1` + strings.Repeat("0", 30) + `e99999999"}}}]}`, true},
		"protobuf":              {Protobuf, protoPrefix + string(protowire.AppendBytes(protowire.AppendBytes(nil, 1, typeMeta), 2, protoList)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readWithin(t, tc.f, Options{}, newPod, "list", []byte(tc.body)); (err != nil) != tc.fails {
				t.Errorf("got error %.300v", err)
			}
		})
	}
}

// TestDeepNesting decodes very deep JSON. A stack overflow would end the process.
func TestDeepNesting(t *testing.T) {
	list := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`
	opts := Options{DropManagedFields: true, DropAnnotations: []string{"drop"}}
	for name, tc := range map[string]struct {
		begin, end string // end is repeated
	}{
		"arrays":               {list + `{"x":`, "["},
		"objects":              {list + `{"x":`, `{"x":`},
		"objects, known names": {list, `{"metadata":`},
	} {
		t.Run(name, func(t *testing.T) {
			const size = 1 << 20
			for _, newObject := range []func() object.Object{newPod, newUntyped} {
				for _, closed := range []bool{false, true} {
					body := tc.begin + strings.Repeat(tc.end, size/len(tc.end))
					if closed {
						body += "1" + strings.NewReplacer(`{"x":`, "}", `{"metadata":`, "}", "[", "]").Replace(strings.Repeat(tc.end, size/len(tc.end))) + "}]}"
					}
					err := readWithin(t, JSON, opts, newObject, "list", []byte(body))
					var failed *Error
					if !errors.As(err, &failed) {
						t.Errorf("got error %.300v, want an *Error", err)
					}
				}
			}
		})
	}
}
