// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

const (
	blockedHandlers = 10
	probesApart     = 10 * time.Millisecond

	addTakes = "longest time of AddEventHandler"
	askTakes = "longest time of Status and Await"
)

// relistAllBench measures a relist that changes all objects, while handlers are added and the
// informer is asked for its state.
func relistAllBench() harness.Bench {
	return harness.Bench{
		Name: "relist/all",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a relist of %s Pods, all changed, with %d handlers", report.Digits(float64(z.Many)), blockedHandlers)
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			pods := data.SlimPods(e.Sizes.Many)
			states := [2][]*corev1.Pod{pods, data.ChangedAll(pods)}
			return func() (harness.Outcome, error) {
				r, err := relistOver(e.Side, states)
				return harness.Outcome{Seen: r.saw, Values: map[string]float64{addTakes: float64(r.add), askTakes: float64(r.ask)}}, err
			}, nil, nil
		},
	}
}

type relistResult struct {
	add, ask time.Duration // the longest
	saw      harness.Seen
}

func relistOver(s harness.Side, states [2][]*corev1.Pod) (result relistResult, err error) {
	f := server.NewRelistProducer(states)
	r, err := newPodRig(s, f, informer.WithTuning(reflector.Tuning{DisableWatchList: true}))
	if err != nil {
		return result, err
	}
	var left atomic.Int64
	left.Store(int64(blockedHandlers * len(states[1])))
	all := make(chan struct{})
	for range blockedHandlers {
		if err := r.Handle(handler{Update: func(_, _ *corev1.Pod) {
			if left.Add(-1) == 0 {
				close(all)
			}
		}}); err != nil {
			return result, err
		}
	}
	stop, err := r.Start()
	if err != nil {
		return result, err
	}
	defer stop()
	if err := rig.WaitSynced(r); err != nil {
		return result, err
	}
	goruntime.GC()
	f.Expire()
	for left.Load() > 0 {
		if err := result.probe(r); err != nil {
			return result, err
		}
		time.Sleep(probesApart)
	}
	if err := rig.Wait(all, "the handlers to have the differences"); err != nil {
		return result, err
	}
	stop()
	result.saw = rig.SumUpPods(r.Objects())
	result.saw.Events = blockedHandlers*len(states[1]) - int(left.Load())
	return result, nil
}

// probe adds a handler, removes it, and asks the informer questions that take no work.
func (p *relistResult) probe(r podRig) error {
	began := time.Now()
	switch r := r.(type) {
	case *rig.Ours[*corev1.Pod]:
		reg, err := r.Informer.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{})
		p.add = max(p.add, time.Since(began))
		if err != nil {
			return err
		}
		reg.Remove()
		began = time.Now()
		status := r.Informer.Status()
		err = r.Informer.AwaitResourceVersion(context.Background(), status.ResourceVersion)
		p.ask = max(p.ask, time.Since(began))
		return err
	case *rig.ClientGo[*corev1.Pod]:
		reg, err := r.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		p.add = max(p.add, time.Since(began))
		if err != nil {
			return err
		}
		began = time.Now()
		_, _, _ = r.Informer.LastSyncResourceVersion(), r.Informer.HasSynced(), r.Informer.IsStopped()
		p.ask = max(p.ask, time.Since(began))
		return r.Informer.RemoveEventHandler(reg)
	}
	return errors.New("no such rig")
}
