// SPDX-License-Identifier: Apache-2.0

// Package storetest helps to test code that reads a store, and implementations of [store.Reader].
//
// [New] makes a store with objects, for unit tests that need a lister.
//
// [Run] is a test suite for implementations of [store.Reader]. The caller passes a function that
// makes an empty Reader and a way to change its content, as a [Rig]. The suite calls both on the
// goroutine of the test; it starts no goroutine and waits for nothing.
package storetest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Object is the type of the objects that the suite stores. It uses their namespace, name, labels
// and resourceVersion.
type Object = *metav1.PartialObjectMetadata

// Rig is an empty Reader and its writer.
type Rig struct {
	Reader store.Reader[Object]
	// Apply sets the objects, each under a key of its own, deletes those under the keys, and brings
	// the store to resourceVersion rv. When it returns, new Snapshots show all that. It must not
	// change the objects' resourceVersions.
	Apply func(set []Object, deleted []object.Key, rv string)
}

// Run tests the Readers that rig makes. Each must either keep all of the indexes that rig gets, or
// none: then the suite shows that a Reader without indexes gives the same answers. Random choices
// follow a seed that is logged.
func Run(t *testing.T, rig func(t *testing.T, indexes ...store.AnyIndex[Object]) Rig) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"empty", testEmpty},
		{"random changes", testRandom},
		{"loops that are left", testLeave},
		{"keys that nothing has", testMisses},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &suite{model: map[object.Key]Object{}}
			s.Rig = rig(t, byColor, bySize, byTags, byLocalColor)
			test.run(t, s)
		})
	}
}
