// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// BenchmarkStore measures the cost of Store for each object.
func BenchmarkStore(b *testing.B) {
	for name, obj := range map[string]object.Object{"typed": newPod("blue"), "unstructured": newUnstructured("blue")} {
		b.Run(name, func(b *testing.B) {
			d := New("pods", nil)
			b.ReportAllocs()
			for b.Loop() {
				d.Store(obj)
				clear(d.watched)
			}
		})
	}
}

// BenchmarkCheck measures the cost of a comparison: before and after each callback, and for each
// object of a pass.
func BenchmarkCheck(b *testing.B) {
	for name, obj := range map[string]object.Object{"typed": newPod("blue"), "unstructured": newUnstructured("blue")} {
		b.Run(name, func(b *testing.B) {
			d := New("pods", nil)
			d.Store(obj)
			b.ReportAllocs()
			for b.Loop() {
				d.Check("", nil, obj)
			}
		})
	}
}

// BenchmarkNil measures the cost without a Detector.
func BenchmarkNil(b *testing.B) {
	var d *Detector
	obj := newPod("blue")
	for b.Loop() {
		d.Check("", nil, obj)
	}
}
