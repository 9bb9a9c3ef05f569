// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// eventBench is one MODIFIED event of a decoded object, from the watch to every handler.
func eventBench(name string, handlers int, burst bool) bench {
	how := "one at a time"
	if burst {
		how = "in a burst"
	}
	to := "1 handler"
	if handlers > 1 {
		to = fmt.Sprintf("%d handlers", handlers)
	}
	return bench{
		name:  name,
		title: func(sizes) string { return fmt.Sprintf("decoded MODIFIED events, %s, to %s", how, to) },
		measures: []measure{
			{name: "wall time, per event", unit: inTime},
			{name: "CPU time, per event", unit: inTime},
			{name: "allocated, per event", unit: inBytes},
			{name: "allocations, per event"},
		},
		prepare: func(z sizes) (func(side) (outcome, error), func() error, error) {
			pods := slimPods(min(1000, z.objects))
			events := make([]*corev1.Pod, z.events)
			for i := range events {
				events[i] = changed(pods[i%len(pods)], len(pods)+2+i, int64(i+2))
			}
			run := func(s side) (outcome, error) { return eventsOnce(s, pods, events, handlers, burst) }
			return run, nothing, nil
		},
	}
}

func nothing() error { return nil }

func eventsOnce(s side, pods, events []*corev1.Pod, handlers int, burst bool) (outcome, error) {
	f := newFeed(pods, 1000)
	// Every event shall reach every handler, also when one lags in a burst: that is the work that is compared.
	r, err := newRig(s, f, informer.WithWatchList(false), informer.WithBacklogThreshold(informer.Never))
	if err != nil {
		return outcome{}, err
	}
	told := make([]seen, handlers)
	acks := make(chan struct{}, handlers)
	for n := range handlers {
		t := &told[n]
		if err := r.handle(handler{update: func(pod *corev1.Pod) {
			t.digest = t.digest*31 + uint64(pod.Generation) // the order counts
			if t.events++; !burst || t.events == len(events) {
				acks <- struct{}{}
			}
		}}); err != nil {
			return outcome{}, err
		}
	}
	stop, err := r.start()
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	if err := waitSynced(r); err != nil {
		return outcome{}, err
	}
	hung := time.After(patience)
	allAcks := func() error {
		for range handlers {
			select {
			case <-acks:
			case <-hung:
				return fmt.Errorf("waited %v for the handlers", patience)
			}
		}
		return nil
	}
	c, err := costOf(func() error {
		for _, pod := range events {
			f.update(pod)
			if burst {
				continue
			}
			if err := allAcks(); err != nil {
				return err
			}
		}
		if burst {
			return allAcks()
		}
		return nil
	})
	if err != nil {
		return outcome{}, err
	}
	stop()
	saw := see(r.pods(), false)
	for _, t := range told {
		saw.events += t.events
		saw.digest = saw.digest*31 + t.digest
	}
	per := c.per(len(events))
	return outcome{values: []float64{per.wall, per.cpu, per.bytes, per.allocs}, seen: saw}, nil
}
