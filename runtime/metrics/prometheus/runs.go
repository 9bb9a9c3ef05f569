// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"maps"
	"slices"
	"sync"
)

// runs are runs of queues, or of controllers, by name. S is the state of one, with its totals.
type runs[S any] struct {
	addTotals func(sum, now, before *S) // adds to sum what was counted between before and now
	addState  func(sum, now *S)         // adds to sum what is not a total

	mu     sync.Mutex // mu guards what follows; it is not held while a state is read
	byName map[string]*runsOfName[S]
}

// runsOfName are all runs of one name, which share their series.
type runsOfName[S any] struct {
	current map[*run[S]]struct{}
	ended   S // the totals of those that have ended
}

// run is one that has not ended.
type run[S any] struct {
	read   func() S
	before S // the totals of earlier runs of the same controller
}

// begin adds a run, until end is called. What before has counted does not count.
func (r *runs[S]) begin(name string, before S, read func() S) (end func()) {
	name = labelValue(name)
	began := &run[S]{read: read, before: before}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*runsOfName[S]{}
	}
	s := r.byName[name]
	if s == nil {
		s = &runsOfName[S]{current: map[*run[S]]struct{}{}}
		r.byName[name] = s
	}
	s.current[began] = struct{}{}
	return func() {
		last := read()
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, ok := s.current[began]; ok {
			delete(s.current, began)
			r.addTotals(&s.ended, &last, &began.before)
		}
	}
}

// sums calls yield with the sum of all runs of each name that has a run.
func (r *runs[S]) sums(yield func(name string, sum *S)) {
	type view struct {
		current []*run[S]
		sum     S
	}
	views := map[string]view{}
	r.mu.Lock()
	for name, s := range r.byName {
		if len(s.current) > 0 {
			views[name] = view{slices.Collect(maps.Keys(s.current)), s.ended}
		}
	}
	r.mu.Unlock()
	for name, v := range views {
		for _, run := range v.current {
			now := run.read()
			r.addTotals(&v.sum, &now, &run.before)
			r.addState(&v.sum, &now)
		}
		yield(name, &v.sum)
	}
}
