// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// TestBindingKeepsNoKeys reads the scratch memory after changes between objects with none, one and
// several keys. A key in it would keep an object's text alive until the next change.
func TestBindingKeepsNoKeys(t *testing.T) {
	type thing = *metav1.PartialObjectMetadata
	index := NewIndex("keys", func(obj thing, dst []string) []string { return append(dst, obj.Finalizers...) })
	b := index.Bind().(*binding[string])
	withKeys := func(n int) thing {
		obj := &metav1.PartialObjectMetadata{}
		for i := range n {
			obj.Finalizers = append(obj.Finalizers, fmt.Sprint("key-", i))
		}
		return obj
	}
	for _, n := range []int{3, 1, 2, 0, 1} {
		for _, other := range []int{n, 2} {
			var c table.Changes
			b.Changes(withKeys(n), withKeys(other), &c)
			for _, keys := range [][]string{b.oldKeys, b.newKeys} {
				for _, key := range keys[:cap(keys)] {
					if key != "" {
						t.Errorf("a change from %d keys to %d leaves %q in the scratch memory", n, other, key)
					}
				}
			}
		}
	}
}
