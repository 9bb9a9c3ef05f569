// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"context"
	"io"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// benchCases are ways to decode Pods.
var benchCases = []struct {
	name     string
	format   Format
	opts     Options
	sample   func() object.Object
	readOnly bool
}{
	{"json", JSON, Options{}, newPod, true},
	{"json-slim", JSON, benchSlim, newPod, true},
	{"json-owned", JSON, Options{}, newPod, false},
	{"json-untyped", JSON, Options{}, newUntyped, false},
	{"protobuf", Protobuf, Options{}, newPod, true},
	{"protobuf-slim", Protobuf, benchSlim, newPod, true},
	{"protobuf-owned", Protobuf, Options{}, newPod, false},
}

var benchSlim = Options{DropManagedFields: true, DropAnnotations: []string{"example.test/checksum"}}

// BenchmarkKeep reads lists of 1,000 Pods, of which all are decoded, or all are dropped by their
// metadata, without and with the controller.
func BenchmarkKeep(b *testing.B) {
	text := []byte(podtest.LargeList(1000))
	keepAll := func(object.Meta) bool { return true }
	for _, f := range allFormats {
		body := podtest.Transcode(b, text, f)
		for _, tc := range []struct {
			name     string
			promises Promises
			want     int
		}{
			{"all", Promises{}, 1000}, {"kept", Promises{Keep: keepAll}, 1000}, {"kept-by-controller", Promises{Keep: keepAll, KeepByController: true}, 1000},
			{"dropped", Promises{Keep: keepNothing}, 0}, {"dropped-by-controller", Promises{Keep: keepNothing, KeepByController: true}, 0},
		} {
			b.Run(f.String()+"/"+tc.name, func(b *testing.B) {
				c := mustCodec(b, Options{}, newPod)
				tc.promises.ReadOnly = true
				b.ReportAllocs()
				for b.Loop() {
					n := 0
					s := c.Open(context.Background(), bodyOf(body)(), f, tc.promises)
					if _, err := s.List(func(object.Object) error { n++; return nil }); err != nil || n != tc.want {
						b.Fatal(n, err)
					}
					s.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/object")
			})
		}
	}
}

// BenchmarkList decodes 1,000 Pods as a source does, one by one with json v2, and as one list with
// sigs.k8s.io/json.
func BenchmarkList(b *testing.B) {
	text := []byte(podtest.LargeList(1000))
	for _, tc := range benchCases {
		b.Run(tc.name, func(b *testing.B) {
			body := podtest.Transcode(b, text, tc.format)
			c := mustCodec(b, tc.opts, tc.sample)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				l := listReader{stream: newStream(context.Background(), c, io.NopCloser(bytes.NewReader(body)), tc.format), deliver: func(object.Object) error { n++; return nil }}
				l.stream.readOnly = tc.readOnly
				if _, err := l.read(); err != nil || n != 1000 {
					b.Fatal(n, err)
				}
			}
		})
	}
	b.Run("json-v2", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			dec := jsontext.NewDecoder(bytes.NewReader(text), typedOptions)
			for range 12 { // tokens before the items
				if _, err := dec.ReadToken(); err != nil {
					b.Fatal(err)
				}
			}
			n := 0
			for dec.PeekKind() == '{' {
				if err := jsonv2.UnmarshalDecode(dec, &corev1.Pod{}); err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != 1000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("sigs", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var list corev1.PodList
			if err := sigsjson.UnmarshalCaseSensitivePreserveInts(text, &list); err != nil {
				b.Fatal(err)
			}
		}
	})
}
