// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

// eventsApart is the time between two events that reach the other handler while one is added.
const eventsApart = 100 * time.Microsecond

// lateBenches add a handler when there are many objects already. Meanwhile another handler gets
// events, each some time after it has got the one before.
func lateBenches() []bench {
	return []bench{{
		name:  "late",
		title: func(z sizes) string { return "a handler added when " + digits(float64(z.Late)) + " objects are there" },
		measures: []measure{
			{name: "longest time an event takes to another handler", unit: inTime, ratio: 0.01},
			{name: "until AddEventHandler returns", unit: inTime},
			{name: "until the new one has all objects", unit: inTime},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			pods := slimPods(e.sizes.Late)
			return func() (outcome, error) { return lateOnce(e.side, pods) }, nil, nil
		},
	}}
}

func lateOnce(s side, pods []*corev1.Pod) (outcome, error) {
	f := newFeed(pods, 1)
	r, err := newPodRig(s, f, informer.WithWatchList(false))
	if err != nil {
		return outcome{}, err
	}
	saw := make(chan time.Time, 1)
	if err := r.handle(handler{update: func(*corev1.Pod) { saw <- time.Now() }}); err != nil {
		return outcome{}, err
	}
	stop, err := r.start()
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	if err := waitSynced(r); err != nil {
		return outcome{}, err
	}

	var over atomic.Bool
	longest, ended := make(chan time.Duration, 1), make(chan struct{})
	go func() {
		defer close(ended)
		var most time.Duration
		for i := 0; !over.Load(); i++ {
			pod := changed(pods[i%len(pods)], len(pods)+2+i, 2)
			sent := time.Now()
			f.update(pod)
			most = max(most, (<-saw).Sub(sent))
			time.Sleep(eventsApart)
		}
		longest <- most
	}()
	runtime.GC()
	time.Sleep(10 * eventsApart) // the events flow
	added, all := 0, make(chan struct{})
	began := time.Now()
	err = r.handle(handler{add: func(*corev1.Pod) {
		if added++; added == len(pods) {
			close(all)
		}
	}})
	returned := time.Since(began)
	if err == nil {
		err = wait(all, "the new handler")
	}
	got := time.Since(began)
	over.Store(true)
	if err == nil {
		err = wait(ended, "the other handler")
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{Seen: seen{Objects: added}, Values: map[string]float64{
		"longest time an event takes to another handler": float64(<-longest),
		"until AddEventHandler returns":                  float64(returned),
		"until the new one has all objects":              float64(got),
	}}, nil
}
