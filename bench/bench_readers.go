// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
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

func scannerFor(s side) (scanner, error) {
	if s == ours {
		return newOurStore(criteria[0])
	}
	return newClientGoStore(true, criteria[0]), nil
}

// readersBench updates as fast as it can while goroutines loop over all objects. They read a field
// of each, as a search does.
func readersBench(readers int, updates, scans float64) bench {
	loop := "a goroutine loops"
	if readers > 1 {
		loop = fmt.Sprintf("%d goroutines loop", readers)
	}
	return bench{
		name: fmt.Sprintf("readers/%d", readers),
		title: func(z sizes) string {
			return fmt.Sprintf("updates while %s over all %s objects; indexes by namespace and node", loop, digits(float64(z.Many)))
		},
		measures: []measure{
			{name: "updates", unit: perSecond, more: true, ratio: updates},
			{name: "loops over all", unit: perSecond, more: true, ratio: scans},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			s, err := scannerFor(e.side)
			return func() (outcome, error) { return readersOnce(s, e.sizes, readers) }, nil, err
		},
	}
}

func readersOnce(s scanner, z sizes, readers int) (outcome, error) {
	pods := slimPods(z.Many)
	if err := setEach(s, pods); err != nil {
		return outcome{}, err
	}
	var scans atomic.Int64
	updates, took, err := contend(s, changedAll(pods), z.Window, readers, func(_ int, over *atomic.Bool) error {
		for !over.Load() {
			all, on := 0, 0
			s.scan(func(pod *corev1.Pod) {
				all++
				if pod.Spec.NodeName == "node-0" {
					on++
				}
			})
			if all != len(pods) || on != min(podsOnNode, len(pods)) {
				return errors.New("a loop did not see all objects")
			}
			scans.Add(1)
		}
		return nil
	})
	var saw seen
	s.scan(func(*corev1.Pod) { saw.Objects++ })
	return outcome{Seen: saw, Values: map[string]float64{
		"updates":        float64(updates) / took.Seconds(),
		"loops over all": float64(scans.Load()) / took.Seconds(),
	}}, err
}

func readersBenches() []bench { return []bench{readersBench(1, 0, 1), readersBench(8, 1000, 1)} }
