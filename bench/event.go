// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

const (
	// eventPods is the number of Pods that the events change in turn. It is small, so that the rows
	// measure the path of an event.
	eventPods = 1000
	// eventsAtOnce is the number of objects made beforehand, outside of the measurement. It is
	// enough for a measurable time, but small enough to stay in the CPU's caches until their events
	// come.
	eventsAtOnce = 10_000
)

const perEvent = "CPU time, per event"

func eventBenches() (all []harness.Bench) {
	for _, handlers := range []int{1, 3, 10} {
		all = append(all, eventBench(handlers))
	}
	return all
}

func eventBench(handlers int) harness.Bench {
	return harness.Bench{
		Name: fmt.Sprintf("event/%d", handlers),
		Title: func(harness.Sizes) string {
			return fmt.Sprintf("decoded MODIFIED events, one at a time, handlers: %d", handlers)
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) { return eventsOnce(e.Side, handlers, e.Sizes.Events) }),
	}
}

func eventsOnce(s harness.Side, handlers, events int) (harness.Outcome, error) {
	p := newEventRun(handlers)
	stop, err := p.begin(s)
	if err != nil {
		return harness.Outcome{}, err
	}
	defer stop()
	return p.measure(events, func() harness.Seen {
		stop()
		return rig.SumUpPods(p.rig.Objects())
	})
}

// eventRun plays a script to some handlers, one event at a time, each after all handlers have got
// the one before.
type eventRun struct {
	*server.Script
	made int            // events
	seen []harness.Seen // by handler

	pending    atomic.Int32  // handlers without the current event
	nextEvents []*corev1.Pod // events not sent yet; used by the last handler to get an event
	until      int           // a handler's number of events at the end of the round
	ended      chan struct{} // gets a value then

	rig podRig
}

// The benchmarks without a server use Pods.
type (
	handler = rig.Handler[*corev1.Pod]
	podRig  = rig.Rig[*corev1.Pod]
)

// newPodRig makes an informer; opts are for ours only.
func newPodRig(s harness.Side, c server.Collection[*corev1.Pod], opts ...informer.Option) (podRig, error) {
	return rig.New(s, c, rig.Setup{Options: append(opts, informer.WithTuning(reflector.Tuning{DisableWatchList: true}))})
}

func newEventRun(handlers int) *eventRun {
	return &eventRun{Script: server.NewScript(data.SlimPods(eventPods)), seen: make([]harness.Seen, handlers), ended: make(chan struct{}, 1)}
}

// make makes the objects of n events, which change one Pod after the other.
func (p *eventRun) make(n int) []*corev1.Pod {
	events := make([]*corev1.Pod, n)
	for i := range events {
		events[i] = data.Changed(p.Initial[p.made%eventPods], eventPods+2+p.made, int64(p.made+2))
		p.made++
	}
	return events
}

func (p *eventRun) begin(s harness.Side) (stop func(), err error) {
	p.rig, err = newPodRig(s, p.Script)
	if err != nil {
		return nil, err
	}
	for n := range p.seen {
		if err := p.rig.Handle(handler{Update: func(_, pod *corev1.Pod) { p.receive(n, pod) }}); err != nil {
			return nil, err
		}
	}
	if stop, err = p.rig.Start(); err != nil {
		return nil, err
	}
	if err = rig.WaitSynced(p.rig); err != nil {
		stop()
	}
	return stop, err
}

// receive is called by the n-th handler. The last handler to get an event releases the next event.
func (p *eventRun) receive(n int, pod *corev1.Pod) {
	t := &p.seen[n]
	t.Digest = t.Digest*31 + uint64(pod.Generation) // sensitive to the order
	t.Events++
	if p.pending.Add(-1) > 0 {
		return
	}
	if t.Events == p.until {
		p.ended <- struct{}{}
		return
	}
	p.next()
}

func (p *eventRun) next() {
	p.pending.Store(int32(len(p.seen)))
	next := p.nextEvents[:1]
	p.nextEvents = p.nextEvents[1:]
	p.Play(next)
}

func (p *eventRun) perform(events []*corev1.Pod) error {
	p.nextEvents, p.until = events, p.seen[0].Events+len(events)
	p.next()
	return rig.Wait(p.ended, "the handlers")
}

// measure plays about so many events, in rounds, after a round to warm up.
func (p *eventRun) measure(events int, end func() harness.Seen) (harness.Outcome, error) {
	var sum probe.Cost
	atOnce := min(events, eventsAtOnce)
	rounds := events / atOnce
	for round := range 1 + rounds {
		next := p.make(atOnce)
		c, err := probe.CostOf(func() error { return p.perform(next) })
		if err != nil {
			return harness.Outcome{}, err
		}
		if round > 0 {
			sum = sum.Plus(c)
		}
	}
	saw := end()
	for _, t := range p.seen {
		saw.Events += t.Events
		saw.Digest = saw.Digest*31 + t.Digest
	}
	return harness.Outcome{Seen: saw, Values: map[string]float64{perEvent: sum.Per(rounds * atOnce).CPU}}, nil
}
