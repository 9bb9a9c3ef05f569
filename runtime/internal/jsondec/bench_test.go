// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

var v2Options = json.JoinOptions(jsonv1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false), jsonv1.ReportErrorsWithLegacySemantics(false))

func mustProgram[T any](t testing.TB, drop dropped.Parts) *Program {
	p, err := New(reflect.TypeFor[T](), drop)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func benchDecode[T any](b *testing.B, drop dropped.Parts, inputs [][]byte) {
	size := 0
	for _, in := range inputs {
		size += len(in)
	}
	run := func(name string, decode func(in []byte, into *T) bool) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size / len(inputs)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if !decode(inputs[i%len(inputs)], new(T)) {
					b.Fatal("not decoded")
				}
				i++
			}
		})
	}
	table := share.New(64 << 20)
	program := mustProgram[T](b, drop)
	shared, alone := program.NewDecoder(table, true), program.NewDecoder(nil, false)
	run("ours", func(in []byte, into *T) bool { _, ok := shared.Decode(in, into); return ok })
	run("ours-alone", func(in []byte, into *T) bool { _, ok := alone.Decode(in, into); return ok })
	run("jsonv2", func(in []byte, into *T) bool { return json.Unmarshal(in, into, v2Options) == nil })
	run("sigs", func(in []byte, into *T) bool { return sigsjson.UnmarshalCaseSensitivePreserveInts(in, into) == nil })
}

func BenchmarkDecodePod(b *testing.B) {
	benchDecode[corev1.Pod](b, dropped.Parts{ManagedFields: true}, encodedPods(4000, false))
}

func BenchmarkDecodePodUnshared(b *testing.B) {
	benchDecode[corev1.Pod](b, dropped.Parts{ManagedFields: true}, encodedPods(4000, true))
}

func BenchmarkDecodeProjection(b *testing.B) {
	benchDecode[placement.PodPlacement](b, dropped.Parts{ManagedFields: true}, encodedPods(4000, false))
}
