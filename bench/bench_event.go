// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync"
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
	// eventPods is the number of Pods that the events change in turn. They are few, so that the
	// rows measure the path of an event; the rows of update show the cost of a store that is larger
	// than the CPU's caches.
	eventPods = 1000
	// eventsAtOnce is the number of objects that are made beforehand, outside of the measurement.
	// They are enough to take a while, but not so many that they have left the CPU's caches when
	// their events come, because objects that were just decoded are still there.
	eventsAtOnce = 10_000
)

// eventBench measures one MODIFIED event, from the decoder's return until every handler has it.
func eventBench(handlers int, burst bool) harness.Bench {
	name, how := "event/single", "one at a time"
	if burst {
		name, how = "event/burst", "in a burst"
	}
	to := "1 handler"
	if handlers > 1 {
		to = fmt.Sprintf("%d handlers", handlers)
	}
	return harness.Bench{
		Name:  fmt.Sprintf("%s/%d", name, handlers),
		Title: func(harness.Sizes) string { return fmt.Sprintf("decoded MODIFIED events, %s, to %s", how, to) },
		Measures: []harness.Measure{
			{Name: "wall time, per event", Unit: harness.Time, Ratio: 0.2},
			{Name: "CPU time, per event", Unit: harness.Time, Ratio: 0.2},
			{Name: allocatedEvent, Unit: harness.Bytes},
			{Name: allocationsEvent, Limit: harness.AtMost(2)},
		},
		Others: []harness.Side{directly, handingOver},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			once := eventsOnce
			if !e.Side.Peer() {
				once = eventsBarely
			}
			return func() (harness.Outcome, error) { return once(e.Side, handlers, e.Sizes.Events, burst) }, nil, nil
		},
	}
}

func eventsOnce(s harness.Side, handlers, events int, burst bool) (harness.Outcome, error) {
	p := newPlay(handlers, burst)
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

// play plays a script to some handlers: in a burst, or one event at a time, each after all handlers
// have got the one before.
type play struct {
	*server.Script
	burst bool
	made  int            // events
	told  []harness.Seen // by handler

	lacking atomic.Int32  // handlers that have not got the event; in a burst, all events
	coming  []*corev1.Pod // events that are not sent yet; used by the last handler to get an event
	until   int           // the number of events a handler has got at the end of the round
	over    chan struct{} // gets a value then

	rig podRig
}

func newPlay(handlers int, burst bool) *play {
	return &play{Script: server.NewScript(data.SlimPods(eventPods)), burst: burst, told: make([]harness.Seen, handlers), over: make(chan struct{}, 1)}
}

// make makes the objects of n events, which change one Pod after the other.
func (p *play) make(n int) []*corev1.Pod {
	events := make([]*corev1.Pod, n)
	for i := range events {
		events[i] = data.Changed(p.Initial[p.made%eventPods], eventPods+2+p.made, int64(p.made+2))
		p.made++
	}
	return events
}

// begin starts an informer and waits until it and its handlers have the initial objects.
func (p *play) begin(s harness.Side) (stop func(), err error) {
	// Every event must reach every handler, even if a handler lags in a burst: that is the work
	// that is compared.
	p.rig, err = newPodRig(s, p.Script, informer.WithTuning(reflector.Tuning{DisableWatchList: true}), informer.WithBacklogThreshold(informer.Never))
	if err != nil {
		return nil, err
	}
	for n := range p.told {
		if err := p.rig.Handle(handler{Update: func(pod *corev1.Pod) { p.tell(n, pod) }}); err != nil {
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

// tell is called by the n-th handler. The last handler to get an event releases the next event.
func (p *play) tell(n int, pod *corev1.Pod) {
	t := &p.told[n]
	t.Digest = t.Digest*31 + uint64(pod.Generation) // the order counts
	t.Events++
	if p.burst && t.Events < p.until || p.lacking.Add(-1) > 0 {
		return
	}
	if t.Events == p.until {
		p.over <- struct{}{}
		return
	}
	p.next(1)
}

// next sends n events.
func (p *play) next(n int) {
	p.lacking.Store(int32(len(p.told)))
	next := p.coming[:n]
	p.coming = p.coming[n:]
	p.Play(next)
}

// perform sends events and waits until all handlers have them.
func (p *play) perform(events []*corev1.Pod) error {
	p.coming, p.until = events, p.told[0].Events+len(events)
	if p.burst {
		p.next(len(events))
	} else {
		p.next(1)
	}
	return rig.Wait(p.over, "the handlers")
}

// measure plays about so many events, in rounds, after one round to warm up.
func (p *play) measure(events int, end func() harness.Seen) (harness.Outcome, error) {
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
	for _, t := range p.told {
		saw.Events += t.Events
		saw.Digest = saw.Digest*31 + t.Digest
	}
	per := sum.Per(rounds * atOnce)
	return harness.Outcome{Seen: saw, Values: map[string]float64{
		"wall time, per event": per.Wall,
		"CPU time, per event":  per.CPU,
		allocatedEvent:         per.Bytes,
		allocationsEvent:       per.Allocs,
	}}, nil
}

// The lower bounds: the decoding goroutine puts the object into a map and calls the handlers, or
// hands the object over to another goroutine that calls them, so that handlers can't delay its
// reading.
const (
	directly    harness.Side = "no hand-over"
	handingOver harness.Side = "one hand-over"
)

func eventsBarely(s harness.Side, handlers, events int, burst bool) (harness.Outcome, error) {
	p := newPlay(handlers, burst)
	objects, done := bareMap{}, make(chan struct{})
	_ = setEach(objects, p.Initial) // has no errors
	tell := func(pod *corev1.Pod) {
		for n := range p.told {
			p.tell(n, pod)
		}
	}
	deliver := tell
	var wg sync.WaitGroup
	handedOver := make(chan *corev1.Pod, 128)
	if s == handingOver {
		deliver = func(pod *corev1.Pod) { handedOver <- pod }
		wg.Go(func() {
			for pod := range handedOver {
				tell(pod)
			}
		})
	}
	wg.Go(func() {
		defer close(handedOver)
		for pod := p.Next(done); pod != nil; pod = p.Next(done) {
			_ = objects.set(pod)
			deliver(pod)
		}
	})
	return p.measure(events, func() harness.Seen {
		close(done)
		wg.Wait()
		return harness.Seen{Objects: len(objects)}
	})
}

func eventBenches() (all []harness.Bench) {
	for _, burst := range []bool{false, true} {
		for _, handlers := range []int{1, 3, 10} {
			all = append(all, eventBench(handlers, burst))
		}
	}
	return all
}
