// SPDX-License-Identifier: Apache-2.0

// Package checker gives the adapters' informers client-go's HasSyncedChecker. They can't declare it
// themselves: its result is a cache.DoneChecker, a type that client-go has only from v0.36 on.
package checker

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// Checker is for a struct to embed, which gets HasSyncedChecker where client-go has it.
type Checker interface {
	cache.ResourceEventHandlerRegistration
}

// New returns a Checker that has not synced. From v0.36 on, the result of its HasSyncedChecker has
// the name.
func New(name string) Checker {
	// A queue has the methods of each version, and has synced once it was given an empty list.
	// Nothing else is ever put into this one.
	var options cache.DeltaFIFOOptions
	if field := reflect.ValueOf(&options).Elem().FieldByName("Name"); field.IsValid() {
		field.SetString(name)
	}
	return cache.NewDeltaFIFOWithOptions(options)
}

// Done makes a Checker of New report that it has synced.
func Done(c Checker) {
	_ = c.(cache.Queue).Replace(nil, "") // fails for no empty list
}
