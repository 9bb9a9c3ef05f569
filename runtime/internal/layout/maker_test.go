// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"reflect"
	"runtime"
	"testing"
)

// TestMaker makes what a Type makes, for types of any size, with and without pointers.
func TestMaker(t *testing.T) {
	type pair struct {
		Text string
		Next *pair
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[pair](), reflect.TypeFor[bool](), reflect.TypeFor[int32](), reflect.TypeFor[struct{}](), reflect.TypeFor[[100]*int](), reflect.TypeFor[[3]byte](),
	} {
		m := TypeOf(typ).NewMaker()
		for n := range 20 {
			list := reflect.New(reflect.SliceOf(typ))
			data := m.Make(list.UnsafePointer(), n)
			got := list.Elem()
			if got.IsNil() || got.Len() != n || got.Cap() != n || got.UnsafePointer() != data {
				t.Fatalf("%d of %v: %v", n, typ, got)
			}
			one := m.New()
			runtime.GC()
			for i := range n {
				if !got.Index(i).IsZero() {
					t.Fatalf("%d of %v: element %d is not zero", n, typ, i)
				}
			}
			if !reflect.NewAt(typ, one).Elem().IsZero() || typ.Size() > 0 && n > 0 && one == data {
				t.Fatalf("a new %v is not zero, or not new", typ)
			}
		}
	}
}
