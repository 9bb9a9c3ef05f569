// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

// changesApart is the time between two changes: enough for either side to reconcile the first.
const changesApart = 2 * time.Millisecond

const untilReconcile = "median, from the server's write to Reconcile"

// reconcileBench measures the way of a change from the server to a controller of
// controller-runtime's, one change at a time.
func reconcileBench() harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{Pods: z.HTTPPods, Events: z.Changes} }
	return harness.Bench{
		Name: "adapter/controller-runtime/reconcile",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("under controller-runtime: %s changes of %s Pods, %v apart, from the wire to Reconcile",
				report.Digits(float64(z.Changes)), report.Digits(float64(z.HTTPPods)), changesApart)
		},
		Measures: []harness.Measure{
			{Name: untilReconcile, Unit: harness.Time, Ratio: 0.7},
			{Name: "CPU time, per change", Unit: harness.Time, Ratio: 0.7},
			{Name: "allocated, per change", Unit: harness.Bytes},
			{Name: "allocations, per change"},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return reconcileOnce(e, has(e.Sizes)) }, nil, server.Begin(e.Server)
		},
	}
}

func reconcileOnce(e harness.Env, w server.World) (o harness.Outcome, err error) {
	seen := &changesSeen{at: make([]time.Time, w.Events), all: make(chan struct{})}
	m, err := openAndSync(e, w, func(e harness.Env, w server.World) (framework, error) {
		return newControllerManager(e, w, seen.reconcile)
	})
	if err != nil {
		return o, err
	}
	cost, err := probe.CostOf(func() error {
		if err := server.Play(e.Server, changesApart); err != nil {
			return err
		}
		return rig.Wait(seen.all, "the last change to be reconciled")
	})
	if err == nil {
		o.Seen, err = m.see()
	}
	if err := errors.Join(err, m.stop()); err != nil {
		return o, err
	}
	sent, err := server.Sent(e.Server)
	if err != nil {
		return o, err
	}
	var took []float64
	for k, at := range seen.at {
		if !at.IsZero() { // else the Pod has changed again before it was reconciled
			took = append(took, float64(at.Sub(sent[k])))
		}
	}
	per := cost.Per(w.Events)
	o.Values = map[string]float64{
		untilReconcile:            harness.SumUp(took).Median,
		"CPU time, per change":    per.CPU,
		"allocated, per change":   per.Bytes,
		"allocations, per change": per.Allocs,
	}
	return o, nil
}

// changesSeen is when a controller of one worker was called for each change.
type changesSeen struct {
	at  []time.Time
	all chan struct{} // closed when the last change was reconciled
}

func (s *changesSeen) reconcile(ctx context.Context, r client.Reader, request reconcile.Request) error {
	at := time.Now().Round(0) // the clock that the server's process has, too
	var pod corev1.Pod
	if err := r.Get(ctx, request.NamespacedName, &pod); err != nil {
		return err
	}
	version, err := strconv.Atoi(pod.ResourceVersion)
	if err != nil {
		return err
	}
	k := version - data.CollectionVersion - 1
	if k < 0 || !s.at[k].IsZero() {
		return nil // as at first, or called again
	}
	s.at[k] = at
	if k == len(s.at)-1 {
		close(s.all)
	}
	return nil
}
