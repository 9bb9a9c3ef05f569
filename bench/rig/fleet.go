// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// Fleet is several informers that run together.
type Fleet []Subject

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

func (f Fleet) WaitAdded() error {
	for _, s := range f {
		if err := Wait(s.added(), "the handlers to be told of all objects"); err != nil {
			return err
		}
	}
	return nil
}

func (f Fleet) WaitSynced() error {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(f, func(s Subject) bool { return !s.synced() }) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v for the sync", patience)
		}
	}
}

func (f Fleet) See(deep bool) (saw harness.Seen) {
	for _, s := range f {
		one := s.See(deep)
		saw.Objects += one.Objects
		saw.Events += one.Events
		saw.Digest += one.Digest
	}
	return saw
}
