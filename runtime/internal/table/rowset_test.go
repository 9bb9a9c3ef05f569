// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestKeepAll keeps a set of rows, found in an older version, in a replacement.
func TestKeepAll(t *testing.T) {
	tb, err := New()
	if err != nil {
		t.Fatal(err)
	}
	named := func(n int) object.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(n)}}
	}
	x := tb.Begin()
	for n := range 200 {
		x.Set(named(n))
	}
	before := x.Publish()
	var kept, none RowSet
	for n := range 200 {
		obj, at := before.Find(object.Key{Name: fmt.Sprint(n)})
		if obj == nil || at == 0 {
			t.Fatalf("Find(%d) = %v, %d", n, obj, at)
		}
		if kept.Has(at) {
			t.Errorf("Find(%d) returns the row of another object", n)
		}
		if n%3 == 0 {
			kept.Add(at)
			kept.Add(at)
		}
	}
	if obj, at := before.Find(object.Key{Name: "200"}); obj != nil || at != 0 || kept.Has(at) {
		t.Errorf("Find of a missing key = %v, %d", obj, at)
	}
	if kept.Len() != 67 || none.Len() != 0 {
		t.Errorf("Len() = %d and %d, want 67 and 0", kept.Len(), none.Len())
	}
	x = tb.Begin()
	x.Set(named(1000))
	x.Delete(object.Key{Name: "3"})
	x.StartReplace()
	x.KeepAll(&kept)
	x.Set(named(1))
	x.Sweep("", nil)
	after := x.Publish()
	for n := range 200 {
		if _, has := after.Get(object.Key{Name: fmt.Sprint(n)}); has != (n%3 == 0 && n != 3 || n == 1) {
			t.Errorf("Get(%d) after Sweep finds the object: %v", n, has)
		}
	}
}
