// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

const stalledKeys = 10

// stallBench measures a handler that hangs while a few objects change often. Another handler of the
// same informer keeps up.
func stallBench() harness.Bench {
	return harness.Bench{
		Name: "stall",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a stalled handler, %s updates to %d objects", report.Digits(float64(z.Updates)), stalledKeys)
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) { return stallOnce(e.Side, e.Sizes.Updates) }),
	}
}

func stallOnce(s harness.Side, updates int) (harness.Outcome, error) {
	pods := data.SlimPods(stalledKeys)
	f := server.NewScript(pods)
	r, err := newPodRig(s, f)
	if err != nil {
		return harness.Outcome{}, err
	}
	last := int64(updates) // generation of the last update
	stalled, release, caughtUp, kept := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	events := 0
	known := map[string]int64{} // the stalled handler's last states
	current := 0                // how many of them are an object's last; keys come in any order
	if err := r.Handle(handler{Update: func(_, pod *corev1.Pod) {
		if events++; events == 1 {
			close(stalled)
			<-release
		}
		known[pod.Name] = pod.Generation
		if pod.Generation > last-stalledKeys {
			if current++; current == stalledKeys {
				close(caughtUp)
			}
		}
	}}); err != nil {
		return harness.Outcome{}, err
	}
	if err := r.Handle(handler{Update: func(_, pod *corev1.Pod) {
		if pod.Generation == last {
			close(kept)
		}
	}}); err != nil {
		return harness.Outcome{}, err
	}
	stop, err := r.Start()
	if err != nil {
		return harness.Outcome{}, err
	}
	defer stop()
	if err := rig.WaitSynced(r); err != nil {
		return harness.Outcome{}, err
	}
	update := func(from, to int) {
		var next []*corev1.Pod
		for i := from; i <= to; i++ {
			next = append(next, data.Changed(pods[i%stalledKeys], stalledKeys+2+i, int64(i)))
		}
		f.Play(next)
	}
	update(1, 1)
	if err := rig.Wait(stalled, "the handler to stall"); err != nil {
		return harness.Outcome{}, err
	}
	base := probe.LiveHeap()
	for i := 2; i <= updates; i += 1000 {
		update(i, min(updates, i+999))
	}
	if err := rig.Wait(kept, "the handler that keeps up"); err != nil {
		return harness.Outcome{}, err
	}
	growth := probe.LiveHeap() - base
	close(release)
	if err := rig.Wait(caughtUp, "the stalled handler to catch up"); err != nil {
		return harness.Outcome{}, err
	}
	stop()
	saw := rig.SumUpPods(r.Objects())
	for _, generation := range known {
		saw.Digest += uint64(generation)
	}
	return harness.Outcome{Seen: saw, Values: map[string]float64{"heap growth": growth}}, nil
}
