// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

// scanner is a store of which all objects are read, by the cheapest public way.
type scanner interface {
	setter
	scan(func(*corev1.Pod))
}

func (o *ourStore) scan(f func(*corev1.Pod)) {
	for pod := range o.store.Snapshot().All() {
		f(pod)
	}
}

func (c *clientGoStore) scan(f func(*corev1.Pod)) {
	for _, obj := range c.indexer.List() {
		f(obj.(*corev1.Pod))
	}
}

func scannerFor(s harness.Side) (scanner, error) {
	if s == harness.Ours {
		return newOurStore(criteria[0])
	}
	return newClientGoStore(true, criteria[0]), nil
}

// readersBench updates as fast as it can while goroutines loop over all objects. They read a field
// of each, as a search does.
func readersBench(readers int, updates, scans float64) harness.Bench {
	loop := "a goroutine loops"
	if readers > 1 {
		loop = fmt.Sprintf("%d goroutines loop", readers)
	}
	return harness.Bench{
		Name: fmt.Sprintf("readers/%d", readers),
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("updates while %s over all %s objects; indexes by namespace and node", loop, report.Digits(float64(z.Many)))
		},
		Measures: []harness.Measure{
			{Name: "updates", Unit: harness.PerSecond, More: true, Ratio: updates},
			{Name: "loops over all", Unit: harness.PerSecond, More: true, Ratio: scans},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			s, err := scannerFor(e.Side)
			return func() (harness.Outcome, error) { return readersOnce(s, e.Sizes, readers) }, nil, err
		},
	}
}

func readersOnce(s scanner, z harness.Sizes, readers int) (harness.Outcome, error) {
	pods := data.SlimPods(z.Many)
	if err := setEach(s, pods); err != nil {
		return harness.Outcome{}, err
	}
	var scans atomic.Int64
	updates, took, err := contend(s, data.ChangedAll(pods), z.Window, readers, func(_ int, over *atomic.Bool) error {
		for !over.Load() {
			all, on := 0, 0
			s.scan(func(pod *corev1.Pod) {
				all++
				if pod.Spec.NodeName == "node-0" {
					on++
				}
			})
			if all != len(pods) || on != min(data.PodsOnNode, len(pods)) {
				return errors.New("a loop did not see all objects")
			}
			scans.Add(1)
		}
		return nil
	})
	var saw harness.Seen
	s.scan(func(*corev1.Pod) { saw.Objects++ })
	return harness.Outcome{Seen: saw, Values: map[string]float64{
		"updates":        float64(updates) / took.Seconds(),
		"loops over all": float64(scans.Load()) / took.Seconds(),
	}}, err
}

func readersBenches() []harness.Bench {
	return []harness.Bench{readersBench(1, 0, 1), readersBench(8, 1000, 1)}
}
