// SPDX-License-Identifier: Apache-2.0

// Package storetest helps to test implementations of [store.Reader], and code that reads a store.
//
// [Run] is a test suite for implementations of [store.Reader]. The caller passes a function
// returning a [Rig]: an empty Reader, and a way to change its content. The suite calls both on the
// test's goroutine; it starts no goroutine and waits for nothing.
package storetest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Object is the type of the suite's objects. It uses their namespace, name, labels and
// resourceVersion.
type Object = *metav1.PartialObjectMetadata

// Rig is an empty Reader and its writer.
type Rig struct {
	Reader store.Reader[Object]
	// Apply sets the objects, each under its own key, deletes the objects under the deleted keys,
	// and raises the store to resourceVersion rv. When it returns, new Snapshots show all changes.
	// It must not change the objects' resourceVersions.
	Apply func(set []Object, deleted []object.Key, rv string)
}

// Run tests Readers made by rig. A Reader must either keep all indexes passed to rig, or none: the
// suite then shows that a Reader without indexes gives the same answers. The random seed is logged.
func Run(t *testing.T, rig func(t *testing.T, indexes ...store.AnyIndex[Object]) Rig) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"empty", testEmpty},
		{"random changes", testRandom},
		{"loops with a break", testBreak},
		{"missing keys", testMissing},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &suite{model: map[object.Key]Object{}}
			s.Rig = rig(t, byColor, bySize, byTags, byLocalColor)
			test.run(t, s)
		})
	}
}
