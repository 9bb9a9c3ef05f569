// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// idleBench measures the memory and goroutines of an informer that has nothing to do. It has one
// object; its source sends nothing and has neither goroutines nor buffers.
func idleBench(handlers int, bytes float64) harness.Bench {
	return harness.Bench{
		Name:  fmt.Sprintf("idle/%d", handlers),
		Title: func(harness.Sizes) string { return fmt.Sprintf("an idle informer with %d handlers", handlers) },
		Measures: []harness.Measure{
			{Name: "goroutines", Ratio: 0.5},
			{Name: "heap and stacks", Unit: harness.Bytes, Ratio: bytes},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return idleOnce(e.Side, e.Sizes.Idle, handlers) }, nil, nil
		},
	}
}

func idleBenches() []harness.Bench { return []harness.Bench{idleBench(0, 0.4), idleBench(10, 0.15)} }

func idleOnce(s harness.Side, informers, handlers int) (harness.Outcome, error) {
	pods := data.SlimPods(1)
	producers := make([]*server.Producer, informers)
	for i := range producers {
		producers[i] = server.NewProducer(pods, 0)
	}
	rigs := make([]podRig, informers)
	stops := make([]func(), 0, informers)
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	before := probe.Footprint()
	for i, f := range producers {
		r, err := newPodRig(s, f, informer.WithTuning(reflector.Tuning{DisableWatchList: true}))
		if err != nil {
			return harness.Outcome{}, err
		}
		rigs[i] = r
		for range handlers {
			if err := r.Handle(handler{Add: func(*corev1.Pod) {}, Update: func(*corev1.Pod) {}}); err != nil {
				return harness.Outcome{}, err
			}
		}
		stop, err := r.Start()
		if err != nil {
			return harness.Outcome{}, err
		}
		stops = append(stops, stop)
	}
	var saw harness.Seen
	for _, r := range rigs {
		if err := rig.WaitSynced(r); err != nil {
			return harness.Outcome{}, err
		}
		saw.Objects += rig.SumUpPods(r.Objects()).Objects
	}
	after := probe.Footprint()
	per := func(later, earlier float64) float64 { return (later - earlier) / float64(informers) }
	return harness.Outcome{Seen: saw, Values: map[string]float64{
		"goroutines":      per(after.Goroutines, before.Goroutines),
		"heap and stacks": per(after.Bytes, before.Bytes),
	}}, nil
}
