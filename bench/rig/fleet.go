// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"slices"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// Fleet is several informers that run together.
type Fleet []Subject

// Start starts all of them.
func (f Fleet) Start() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
		stops = nil
	}
	for _, s := range f {
		one, e := s.Start()
		stops = append(stops, one)
		err = errors.Join(err, e)
	}
	return stop, err
}

// WaitAdded waits until the handlers have got all objects.
func (f Fleet) WaitAdded() error {
	for _, s := range f {
		if err := Wait(s.Added(), "the handlers to get all objects"); err != nil {
			return err
		}
	}
	return nil
}

// Synced reports whether all of them have synced.
func (f Fleet) Synced() bool {
	return !slices.ContainsFunc(f, func(s Subject) bool { return !s.Synced() })
}

// See sums up the results of [Subject.See].
func (f Fleet) See(deep bool) (saw harness.Seen) {
	for _, s := range f {
		one := s.See(deep)
		saw.Objects += one.Objects
		saw.Events += one.Events
		saw.Digest += one.Digest
	}
	return saw
}
