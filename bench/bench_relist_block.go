// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

const (
	blockedHandlers = 10
	probesApart     = 10 * time.Millisecond

	addTakes    = "longest time of AddEventHandler"
	askTakes    = "longest time of Status and Await"
	perListener = "allocated, per handler beyond the first"
)

// relistBlockBenches have a relist bring changes of all objects, while handlers are added and the
// informer is asked how it is doing.
func relistBlockBenches() []harness.Bench {
	return []harness.Bench{{
		Name: "relist-block",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a relist of %s Pods, all changed, with %d handlers",
				report.Digits(float64(z.Many)), blockedHandlers)
		},
		Measures: []harness.Measure{
			{Name: addTakes, Unit: harness.Time, Limit: harness.AtMost(2e6)},
			{Name: askTakes, Unit: harness.Time, Limit: harness.AtMost(2e6)},
			{Name: perListener, Unit: harness.Bytes, Limit: harness.AtMost(100e3)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			pods := data.SlimPods(e.Sizes.Many)
			states := [2][]*corev1.Pod{pods, data.ChangedAll(pods)}
			return func() (harness.Outcome, error) { return relistBlockOnce(e.Side, states) }, nil, nil
		},
	}}
}

func relistBlockOnce(s harness.Side, states [2][]*corev1.Pod) (harness.Outcome, error) {
	probed, err := relistOver(s, states, blockedHandlers, true) // it warms up, too
	if err != nil {
		return harness.Outcome{}, err
	}
	one, err := relistOver(s, states, 1, false)
	if err != nil {
		return harness.Outcome{}, err
	}
	ten, err := relistOver(s, states, blockedHandlers, false)
	if err != nil {
		return harness.Outcome{}, err
	}
	return harness.Outcome{Seen: probed.saw, Values: map[string]float64{
		addTakes:    float64(probed.add),
		askTakes:    float64(probed.ask),
		perListener: (ten.bytes - one.bytes) / (blockedHandlers - 1),
	}}, nil
}

// relisted is the cost of one relist.
type relisted struct {
	bytes    float64       // allocated
	add, ask time.Duration // the longest
	saw      harness.Seen
}

// relistOver runs an informer with so many handlers, has it relist, and waits until all handlers
// have the differences.
func relistOver(s harness.Side, states [2][]*corev1.Pod, handlers int, probed bool) (result relisted, err error) {
	f := server.NewRelistProducer(states)
	r, err := newPodRig(s, f, informer.WithTuning(reflector.Tuning{DisableWatchList: true}))
	if err != nil {
		return result, err
	}
	var left atomic.Int64
	left.Store(int64(handlers * len(states[1])))
	all := make(chan struct{})
	for range handlers {
		if err := r.Handle(handler{Update: func(*corev1.Pod) {
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
	defer func() { stop() }()
	if err := rig.WaitSynced(r); err != nil {
		return result, err
	}
	c, err := probe.CostOf(func() error {
		f.Expire()
		for probed && left.Load() > 0 {
			if err := result.probe(r); err != nil {
				return err
			}
			time.Sleep(probesApart)
		}
		return rig.Wait(all, "the handlers to have the differences")
	})
	if err != nil {
		return result, err
	}
	stop()
	stop = func() {}
	result.bytes, result.saw = c.Bytes, rig.SumUpPods(r.Objects())
	result.saw.Events = handlers*len(states[1]) - int(left.Load())
	return result, nil
}

// probe adds a handler, removes it, and asks the informer what takes no work.
func (p *relisted) probe(r podRig) error {
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
