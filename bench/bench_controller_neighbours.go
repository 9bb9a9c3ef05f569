// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// A key is added so often, and waits for no other.
	neighbourPeriod = time.Millisecond
	neighbourRounds = 3

	keyToDoneAlone  = "key to done, 99th percentile, alone"
	keyToDoneBeside = "key to done, 99th percentile, beside the others"
	besideOverAlone = "beside the others over alone"
)

// neighboursBench measures how long a controller takes for a key, from adding it to the end of its
// reconcile, while two others in the process get as many keys: one panics at every second, one
// never returns.
func neighboursBench() harness.Bench {
	return harness.Bench{
		Name: "controller/neighbours",
		Title: func(harness.Sizes) string {
			return "a quick controller, beside one that panics at every second key, and one that hangs"
		},
		Measures: []harness.Measure{
			{Name: keyToDoneAlone, Unit: harness.Time},
			{Name: keyToDoneBeside, Unit: harness.Time},
			{Name: besideOverAlone, Limit: harness.AtMost(1.2)},
		},
		Others: []harness.Side{harness.ControllerRuntime},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return neighboursOnce(e.Side, e.Sizes.Window) }, nil, nil
		},
	}
}

// neighboursOnce measures alone and beside the others in turns, so that both have the same noise.
func neighboursOnce(s harness.Side, window time.Duration) (harness.Outcome, error) {
	keys := queueKeys(max(1, int(window/neighbourPeriod)))
	var alone, beside []float64
	for range neighbourRounds {
		for _, crowded := range []bool{false, true} {
			took, err := keysToDone(s, keys, crowded)
			if err != nil {
				return harness.Outcome{}, err
			}
			if crowded {
				beside = append(beside, took...)
			} else {
				alone = append(alone, took...)
			}
		}
	}
	a, b := percentile99(alone), percentile99(beside)
	return harness.Outcome{
		Seen:   harness.Seen{Events: len(alone) + len(beside)},
		Values: map[string]float64{keyToDoneAlone: a, keyToDoneBeside: b, besideOverAlone: b / a},
	}, nil
}

func percentile99(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)*99/100]
}

// keysToDone returns how long a controller takes for each of the keys.
func keysToDone(s harness.Side, keys []object.Key, crowded bool) (took []float64, err error) {
	added, done := make([]atomic.Int64, len(keys)), make([]atomic.Int64, len(keys))
	all := &countdown{over: make(chan struct{}, 1)}
	all.left.Store(int64(len(keys)))
	began := time.Now()
	add, stop, err := begin(s, 1, func(key object.Key) {
		done[numberOf(key)].Store(int64(time.Since(began)))
		all.reconciled(key)
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if crowded {
		panics, stopPanics, err := begin(s, 1, panicking(s))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stopPanics()) }()
		release := make(chan struct{})
		hangs, stopHanging, err := begin(s, 1, func(object.Key) { <-release })
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stopHanging()) }()
		defer close(release)
		var feeds sync.WaitGroup
		defer feeds.Wait()
		for _, add := range []keyAdder{panics, hangs} {
			feeds.Go(func() {
				for _, key := range keys {
					time.Sleep(neighbourPeriod)
					add(key)
				}
			})
		}
	}
	for n, key := range keys {
		time.Sleep(neighbourPeriod)
		added[n].Store(int64(time.Since(began)))
		add(key)
	}
	if err := rig.Wait(all.over, "the quick controller"); err != nil {
		return nil, err
	}
	for n := range keys {
		took = append(took, float64(done[n].Load()-added[n].Load()))
	}
	return took, nil
}

// panicking returns a reconcile that panics at every second call. The loop by hand over client-go's
// queue recovers nothing, so there it recovers by itself.
func panicking(s harness.Side) func(object.Key) {
	var calls atomic.Int64
	return func(object.Key) {
		if s == harness.ClientGo {
			defer func() { _ = recover() }()
		}
		if calls.Add(1)%2 == 0 {
			panic("in the benchmark")
		}
	}
}
