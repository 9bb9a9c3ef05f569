// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// eventsApart is the time between two events that reach the other handler while one is added.
const eventsApart = 100 * time.Microsecond

// lateBenches add a handler when there are many objects already. Meanwhile another handler gets
// events, each some time after it has got the one before.
func lateBenches() []harness.Bench {
	return []harness.Bench{{
		Name: "late",
		Title: func(z harness.Sizes) string {
			return "a handler added when " + report.Digits(float64(z.Late)) + " objects are there"
		},
		Measures: []harness.Measure{
			{Name: "longest time an event takes to another handler", Unit: harness.Time, Ratio: 0.01},
			{Name: "until AddEventHandler returns", Unit: harness.Time},
			{Name: "until the new one has all objects", Unit: harness.Time},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			pods := data.SlimPods(e.Sizes.Late)
			return func() (harness.Outcome, error) { return lateOnce(e.Side, pods) }, nil, nil
		},
	}}
}

func lateOnce(s harness.Side, pods []*corev1.Pod) (harness.Outcome, error) {
	f := server.NewProducer(pods, 1)
	r, err := newPodRig(s, f, informer.WithTuning(reflector.Tuning{DisableWatchList: true}))
	if err != nil {
		return harness.Outcome{}, err
	}
	saw := make(chan time.Time, 1)
	if err := r.Handle(handler{Update: func(*corev1.Pod) { saw <- time.Now() }}); err != nil {
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

	var over atomic.Bool
	longest, ended := make(chan time.Duration, 1), make(chan struct{})
	go func() {
		defer close(ended)
		var most time.Duration
		for i := 0; !over.Load(); i++ {
			pod := data.Changed(pods[i%len(pods)], len(pods)+2+i, 2)
			sent := time.Now()
			f.Update(pod)
			most = max(most, (<-saw).Sub(sent))
			time.Sleep(eventsApart)
		}
		longest <- most
	}()
	runtime.GC()
	time.Sleep(10 * eventsApart) // the events flow
	added, all := 0, make(chan struct{})
	began := time.Now()
	err = r.Handle(handler{Add: func(*corev1.Pod) {
		if added++; added == len(pods) {
			close(all)
		}
	}})
	returned := time.Since(began)
	if err == nil {
		err = rig.Wait(all, "the new handler")
	}
	got := time.Since(began)
	over.Store(true)
	if err == nil {
		err = rig.Wait(ended, "the other handler")
	}
	if err != nil {
		return harness.Outcome{}, err
	}
	return harness.Outcome{Seen: harness.Seen{Objects: added}, Values: map[string]float64{
		"longest time an event takes to another handler": float64(<-longest),
		"until AddEventHandler returns":                  float64(returned),
		"until the new one has all objects":              float64(got),
	}}, nil
}
