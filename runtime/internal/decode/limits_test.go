// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestHugeLengths checks that a length in a response doesn't cause a large allocation.
func TestHugeLengths(t *testing.T) {
	envelope := func(fields ...byte) []byte { return append([]byte(protoPrefix), fields...) }
	for name, tc := range map[string]struct {
		f           Format
		list, watch []byte
	}{
		"JSON as a frame":  {Protobuf, nil, []byte(`{"type":"ADDED"}`)},
		"a frame of 4 GB":  {Protobuf, nil, []byte{255, 255, 255, 255, 1}},
		"a frame of 16 MB": {Protobuf, nil, []byte{1, 0, 0, 0, 1}},
		"an item of 200 MB": {Protobuf, envelope(append(append([]byte{18}, binary.AppendUvarint(nil, 1<<40)...),
			append([]byte{18}, binary.AppendUvarint(nil, 200<<20)...)...)...), nil},
		"an item of 2^63":  {Protobuf, envelope(append([]byte{18, 100, 18}, binary.AppendUvarint(nil, 1<<63)...)...), nil},
		"a list of 2^63":   {Protobuf, envelope(append([]byte{18}, binary.AppendUvarint(nil, 1<<63)...)...), nil},
		"a type of 2^62":   {Protobuf, envelope(append([]byte{10}, binary.AppendUvarint(nil, 1<<62)...)...), nil},
		"an item too long": {Protobuf, envelope(18, 4, 18, 5, 1, 2, 3, 4, 5), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for verb, body := range map[string][]byte{"list": tc.list, "watch": tc.watch} {
				if body == nil {
					continue
				}
				s := newReader(t, tc.f, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{})
				var err error
				if verb == "list" {
					_, _, err = listAll(s)
				} else {
					_, err = watchAll(s)
				}
				var failed *Error
				if !errors.As(err, &failed) {
					t.Errorf("%s: got error %v, want an *Error", verb, err)
				}
			}
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
				t.Errorf("decoding allocates %d bytes, want at most %d", grown, 8<<20)
			}
		})
	}
}

// TestDecompressionBombFails reads an event that never ends, as gzip can make of a small response.
// Reading stops after 16 MB, or once the context is done.
func TestDecompressionBombFails(t *testing.T) {
	for f, begin := range map[Format]string{
		JSON: `{"type":"ADDED","object":{"metadata":{"annotations":{"a":"`,
	} {
		for _, most := range []int{64 << 10, 16 << 20} {
			ctx, cancel := context.WithCancel(t.Context())
			body := &endlessBody{begin: begin, most: most, cancel: cancel}
			if most == 16<<20 {
				body.cancel = func() {}
			}
			s := mustCodec(t, Options{}, newPod).Open(ctx, body, f, Promises{})
			err := s.Watch(func(*Item) error { return nil })
			s.Close()
			cancel()
			if err == nil || errors.Is(err, context.Canceled) != (most < 16<<20) {
				t.Errorf("%v, %d bytes: got error %v", f, most, err)
			}
			if over := body.read - most; over > 1<<20 {
				t.Errorf("%v: Watch reads %d bytes, %d more than the limit", f, body.read, over)
			}
		}
	}
}

// endlessBody is a body with an event that never ends.
type endlessBody struct {
	begin      string
	read, most int
	cancel     func() // called after most bytes
}

func (e *endlessBody) Read(p []byte) (int, error) {
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'a'
	}
	if e.read += len(p); e.read >= e.most {
		e.cancel()
	}
	return len(p), nil
}

func (e *endlessBody) Close() error { return nil }

// TestObjectWithoutEnd reads objects that never end, and a list that never gets to its items. The
// limit applies to one object, not to those before it.
func TestObjectWithoutEnd(t *testing.T) {
	good := []string{podtest.Pod("a", "1"), podtest.Pod("b", "1"), podtest.Pod("c", "1")}
	for name, tc := range map[string]struct {
		f          Format
		verb       string
		begin, end string // end is repeated
		item       int
	}{
		"JSON, a text":          {JSON, "list", strings.TrimSuffix(podtest.List("7", good...), "]}") + `,{"metadata":{"name":"`, "xxxxxxxx", 4},
		"JSON, unknown members": {JSON, "list", strings.TrimSuffix(podtest.List("7", good...), "]}") + `,{"x":[1`, ",1,1,1,1", 4},
		"JSON, before items":    {JSON, "list", `{"kind":"PodList","x":[1`, ",1,1,1,1", 0},
		"JSON, watched":         {JSON, "watch", podtest.Event("ADDED", podtest.KindPod("a", "1")) + `{"type":"ADDED","object":{"x":[1`, ",1,1,1,1", 2},
		"protobuf, unknown":     {Protobuf, "list", protoPrefix, "\x20\x01\x20\x01\x20\x01", 0},
	} {
		for _, limit := range []int64{4 << 10, 256 << 10} {
			body := strings.NewReader(tc.begin + strings.Repeat(tc.end, 100<<10))
			s := newStream(t.Context(), mustCodec(t, Options{}, newPod), io.NopCloser(body), tc.f)
			s.body.limit, s.body.remaining = limit, limit
			var err error
			if tc.verb == "list" {
				l := listReader{stream: s, deliver: func(object.Object) error { return nil }}
				_, err = l.read()
			} else {
				w := watchReader{stream: s, deliver: func(*Item) error { return nil }}
				err = w.read()
			}
			var failed *Error
			if !errors.As(err, &failed) || !errors.Is(err, ErrMalformed) || failed.Item != tc.item {
				t.Errorf("%s: got error %v, want a malformed item %d", name, err, tc.item)
			}
			if read := body.Size() - int64(body.Len()); read > limit*2+8<<10 {
				t.Errorf("%s: %d bytes were read, with a limit of %d per object", name, read, limit)
			}
		}
	}
}

// TestItemBeyondTheEndOfItsList has items that end after their list does.
func TestItemBeyondTheEndOfItsList(t *testing.T) {
	item, err := podtest.LargeObject(t, 1).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	// TypeMeta has the fields of the envelope in the opposite order
	meta, err := (&metav1.TypeMeta{Kind: "v1", APIVersion: "PodList"}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	head := slices.Clip(protowire.AppendBytes(nil, 1, protowire.AppendBytes(nil, 2, []byte("7"))))
	for _, list := range [][]byte{protowire.AppendBytes(head, 2, item), protowire.AppendBytes(head, 15, []byte("unknown"))} {
		for short := range 3 {
			body := binary.AppendUvarint(append(protowire.AppendBytes([]byte(protoPrefix), 1, meta), byte(protowire.Bytes(2))), uint64(len(list)-short))
			body = append(body, list...)
			got, _, err := listAll(newReader(t, Protobuf, body, func() *corev1.Pod { return &corev1.Pod{} }, Options{}))
			if short == 0 && err != nil || short > 0 && (!errors.Is(err, errBeyondList) || len(got) != 0) {
				t.Errorf("list %d bytes too short: got %d Pods, %v", short, len(got), err)
			}
		}
	}
}

// TestTextInPlaceOfALengthIsMalformed reads text where protobuf has a length. The error comes at
// once, not after the bytes of that length.
func TestTextInPlaceOfALengthIsMalformed(t *testing.T) {
	for _, body := range []string{`{"type":"ADDED"}`, "\xff\xff\xff\xff\x01", "\x01\x00\x00\x01"} {
		_, err := watchAll(newReader(t, Protobuf, []byte(body), newPod, Options{Kind: "Pod"}))
		if !errors.Is(err, ErrMalformed) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: got error %v, want ErrMalformed", body, err)
		}
	}
}

func TestUnknownWireTypesAreMalformed(t *testing.T) {
	for _, wireType := range []byte{3, 4, 6, 7} {
		if _, _, err := parseEvent([]byte{8 | wireType, 0}); !errors.Is(err, ErrMalformed) {
			t.Errorf("wire type %d: got error %v, want ErrMalformed", wireType, err)
		}
	}
}

// TestReleasedBuffersAreNotRead cuts off a value that has moved to a larger buffer. The error must
// not depend on the earlier buffers, which other streams may use.
func TestReleasedBuffersAreNotRead(t *testing.T) {
	reset := errors.New("connection reset by peer")
	for size := 30 << 10; size < 70<<10; size += 8 << 10 {
		body := scribbler{podtest.BrokenBody(`{"kind":"PodList","x":"`+strings.Repeat("x", size), reset)}
		if _, err := jsonReader(t, body, defaultSizes).List(t.Context(), Promises{}, func(*corev1.Pod) error { return nil }); !errors.Is(err, reset) {
			t.Errorf("%d bytes: got error %v, want %v", size, err, reset)
		}
	}
}

// scribbler is a body that also writes to the idle buffers in the pools.
type scribbler struct{ io.ReadCloser }

func (s scribbler) Read(p []byte) (int, error) {
	var taken [][]byte
	for range 4 {
		buf := getBuffer(chunkSize)
		for i := range buf {
			buf[i] = 0xff
		}
		taken = append(taken, buf)
	}
	for _, buf := range taken {
		putBuffer(buf)
	}
	return s.ReadCloser.Read(p)
}
