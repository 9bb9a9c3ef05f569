// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

const stalledKeys = 10

// stallBenches have a handler that hangs while a few objects change often. Another handler of the
// same informer keeps up.
func stallBenches() []bench {
	return []bench{{
		name: "stall",
		title: func(z sizes) string {
			return fmt.Sprintf("a stalled handler, %s updates to %d objects", digits(float64(z.Updates)), stalledKeys)
		},
		measures: []measure{
			{name: "heap growth", unit: inBytes, ratio: 0.01},
			{name: "events it gets when it goes on"},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			return func() (outcome, error) { return stallOnce(e.side, e.sizes.Updates) }, nil, nil
		},
	}}
}

func stallOnce(s side, updates int) (outcome, error) {
	pods := slimPods(stalledKeys)
	f := newFeed(pods, 1000)
	r, err := newPodRig(s, f, informer.WithWatchList(false))
	if err != nil {
		return outcome{}, err
	}
	last := int64(updates) // generation of the last update
	stalled, release, caughtUp, kept := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	events := 0
	known := map[string]int64{} // the last state that the stalled handler got
	if err := r.handle(handler{update: func(pod *corev1.Pod) {
		if events++; events == 1 {
			close(stalled)
			<-release
		}
		known[pod.Name] = pod.Generation
		if pod.Generation == last {
			close(caughtUp)
		}
	}}); err != nil {
		return outcome{}, err
	}
	if err := r.handle(handler{update: func(pod *corev1.Pod) {
		if pod.Generation == last {
			close(kept)
		}
	}}); err != nil {
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
	update := func(i int) { f.update(changed(pods[i%stalledKeys], stalledKeys+2+i, int64(i))) }
	update(1)
	if err := wait(stalled, "the handler to stall"); err != nil {
		return outcome{}, err
	}
	base := liveHeap()
	for i := 2; i <= updates; i++ {
		update(i)
	}
	if err := wait(kept, "the handler that keeps up"); err != nil {
		return outcome{}, err
	}
	growth := liveHeap() - base
	close(release)
	if err := wait(caughtUp, "the stalled handler to catch up"); err != nil {
		return outcome{}, err
	}
	stop()
	saw := sumUpPods(r.objects())
	for _, generation := range known {
		saw.Digest += uint64(generation)
	}
	return outcome{Seen: saw, Values: map[string]float64{
		"heap growth":                    growth,
		"events it gets when it goes on": float64(events),
	}}, nil
}
