// SPDX-License-Identifier: Apache-2.0

package share

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// BenchmarkPart finds a part of 300 bytes: by hash, and in vain at a site that is left alone for
// it.
func BenchmarkPart(b *testing.B) {
	raw := make([][]byte, 64)
	for i := range raw {
		raw[i] = encode(fmt.Sprint(i) + strings.Repeat("x", 300))
	}
	var field *string
	fill := func() *Finder {
		finder := New(1<<20).NewFinder(newSites(), true)
		for _, r := range raw {
			for range 3 {
				finder.Begin()
				if _, enter := finder.Find(pointerSite, r); enter {
					field = new(string)
					finder.Enter(pointerSite, r, layout.Of(&field))
				}
			}
		}
		return finder
	}
	b.Run("found", func(b *testing.B) {
		finder := fill()
		for i := 0; b.Loop(); i++ {
			finder.Begin()
			r := raw[i%64]
			if finder.Try(pointerSite) {
				if p, _ := finder.Find(pointerSite, r); p != nil {
					p.Put(layout.Of(&field))
				}
			}
		}
		if c := finder.Counts(); c.Found < b.N {
			b.Fatalf("%+v", c)
		}
	})
	b.Run("in vain", func(b *testing.B) {
		finder := fill()
		r := encode(strings.Repeat("y", 300))
		for i := 0; b.Loop(); i++ {
			r[2], r[3], r[4], r[5] = byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
			finder.Begin()
			if finder.Try(pointerSite) {
				finder.Find(pointerSite, r)
			}
		}
	})
}

// BenchmarkCompare compares parts with their checksums. It reports how much of the time was
// expected.
func BenchmarkCompare(b *testing.B) {
	labels := map[string]string{"app": "web", "pod-template-hash": "7d9c", "team": "shop", "tier": "backend", "version": "v1"}
	containers := []corev1.Container{{
		Args:      []string{"a", "b"},
		Env:       []corev1.EnvVar{{Name: "a"}, {Name: "b", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{}}}},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": {}, "memory": {}}, Requests: corev1.ResourceList{"cpu": {}, "memory": {}}},
	}}
	seconds := new(int64(7))
	for name, field := range map[string]any{"pointer": &seconds, "labels": &labels, "container": &containers} {
		b.Run(name, func(b *testing.B) {
			m, _ := (&collector{}).collect(refTo(reflect.TypeOf(field).Elem()), reflect.ValueOf(field).UnsafePointer(), 1<<20)
			seed := maphash.MakeSeed()
			p := m.read(seed)
			b.ReportAllocs()
			for b.Loop() {
				if !m.is(seed, p) {
					b.Fatal("changed")
				}
			}
			b.ReportMetric(float64(m.cost()), "expected-ns")
		})
	}
}

// BenchmarkString finds a string of 24 bytes: the last one of its site, one of 500, and in vain,
// and makes one.
func BenchmarkString(b *testing.B) {
	words := make([][]byte, 500)
	for i := range words {
		words[i] = fmt.Appendf(nil, "a-node.example.test-%04d", i)
	}
	finder := New(0).NewFinder(newSites(), false)
	for range 3 {
		for _, w := range words {
			finder.String(wordSite, w)
		}
	}
	var s string
	b.Run("last", func(b *testing.B) {
		for b.Loop() {
			s, _ = finder.String(wordSite, words[0])
		}
	})
	b.Run("known", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			s, _ = finder.String(wordSite, words[i%500])
		}
	})
	b.Run("in vain", func(b *testing.B) {
		w := []byte("a-node.example.test-????")
		for i := 0; b.Loop(); i++ {
			w[20], w[21], w[22], w[23] = byte(i), byte(i>>8), byte(i>>16), byte(i>>24)
			s, _ = finder.String(secondSite, w)
		}
	})
	b.Run("made", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			s = string(words[i%500])
		}
	})
	_ = s
}
