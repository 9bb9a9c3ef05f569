// SPDX-License-Identifier: Apache-2.0

// Package checker gives the adapters' informers client-go's HasSyncedChecker. They can't declare it
// themselves: its result type, cache.DoneChecker, exists only from v0.36 on.
package checker

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// Checker is for embedding in a struct, which gets HasSyncedChecker where client-go has it.
type Checker interface {
	cache.ResourceEventHandlerRegistration
}

// New returns a Checker that has not synced. From v0.36 on, its HasSyncedChecker has the name.
func New(name string) Checker {
	// A queue has the methods of each version, and has synced once it was given an empty list.
	// Nothing else is ever put into this one.
	var options cache.DeltaFIFOOptions
	if field := reflect.ValueOf(&options).Elem().FieldByName("Name"); field.IsValid() {
		field.SetString(name)
	}
	return cache.NewDeltaFIFOWithOptions(options)
}

// Done marks a Checker of New as synced.
func Done(c Checker) {
	_ = c.(cache.Queue).Replace(nil, "") // fails for no empty list
}
