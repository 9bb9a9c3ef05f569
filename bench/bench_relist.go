// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

const (
	untilDifferences = "wall time, from the first request"
	extraPeak        = "extra peak heap"
	callsPerChange   = "handler calls, per changed object"
)

// relistBench measures a relist: the watch ends with 410 after 1 % of the objects have changed,
// until the handler has the differences.
func relistBench(name, what string, protobuf bool, by way) harness.Bench {
	has := func(z harness.Sizes) server.World {
		return server.World{Pods: z.Many, Changed: max(1, z.Many/100), Protobuf: protobuf}
	}
	return harness.Bench{
		Name: name,
		Title: func(z harness.Sizes) string {
			w := has(z)
			return fmt.Sprintf("relist of %s %s by %s after 410, %s changed", report.Digits(float64(w.Pods)), what, by, report.Digits(float64(w.Changed)))
		},
		Measures: []harness.Measure{
			{Name: untilDifferences, Unit: harness.Time, Ratio: 0.2},
			{Name: cpuUsed, Unit: harness.Time},
			{Name: extraPeak, Unit: harness.Bytes, Ratio: 0.15},
			{Name: allocatedPer, Unit: harness.Bytes},
			{Name: callsPerChange, Limit: harness.AtMost(1)},
		},
		World: has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return relistOnce(e, has(e.Sizes), by) }, nil, nil
		},
	}
}

func relistOnce(e harness.Env, w server.World, by way) (harness.Outcome, error) {
	if err := server.Begin(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	var asked firstRequest
	f, err := newFleet(e, w, by, rig.Setup{Strip: true}, w.Changed, server.From{Around: asked.around})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop, err := f.Start()
	if err == nil {
		err = f.WaitAdded()
	}
	defer func() { stop() }()
	if err != nil {
		return harness.Outcome{}, err
	}
	if err := f.WaitSynced(); err != nil { // so the watch is open, or is being opened
		return harness.Outcome{}, err
	}
	base := probe.LiveHeap()
	asked.arm()
	peak := probe.WatchHeap()
	m := probe.StartMeter()
	if err := server.Move(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	if err := rig.Wait(f[0].Updated(), "the handler to be told of the differences"); err != nil {
		return harness.Outcome{}, err
	}
	c := m.Stop()
	highest := peak() - base
	took := f[0].UpdatedAt().Sub(asked.when())
	if err := f.WaitSynced(); err != nil {
		return harness.Outcome{}, err
	}
	stop() // after it, calls for other objects have been counted, too
	return harness.Outcome{Values: map[string]float64{
		untilDifferences: float64(took),
		cpuUsed:          float64(c.CPU),
		extraPeak:        highest,
		allocatedPer:     c.Per(w.Pods).Bytes,
		callsPerChange:   float64(w.Changed+f[0].Repeats()) / float64(w.Changed),
	}, Seen: f.See(e.Deep)}, nil
}

// firstRequest records when the first request for all objects is sent after arm.
type firstRequest struct {
	mu    sync.Mutex // guards what follows
	armed bool
	sent  time.Time
}

func (f *firstRequest) arm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = true
}

func (f *firstRequest) when() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

func (f *firstRequest) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		query := r.URL.Query()
		f.mu.Lock()
		if f.armed && f.sent.IsZero() && (query.Get("watch") == "" || query.Get("sendInitialEvents") == "true") {
			f.sent = time.Now()
		}
		f.mu.Unlock()
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const eventsPerSecond = "events"

// httpEventBench measures MODIFIED events on one watch, from the wire to the handler, as fast as
// they are read.
func httpEventBench() harness.Bench {
	has := func(z harness.Sizes) server.World { return server.World{Pods: z.HTTPPods, Events: z.HTTPEvents} }
	return harness.Bench{
		Name: "http-events",
		Title: func(z harness.Sizes) string {
			w := has(z)
			return fmt.Sprintf("%s MODIFIED events of %s Pods from the wire, without managedFields", report.Digits(float64(w.Events)), report.Digits(float64(w.Pods)))
		},
		Measures: []harness.Measure{
			{Name: eventsPerSecond, Unit: harness.PerSecond, More: true, Ratio: 3},
			{Name: "CPU time, per event", Unit: harness.Time},
			{Name: allocatedEvent, Unit: harness.Bytes},
			{Name: allocationsEvent},
		},
		Others: []harness.Side{reading, splitting},
		World:  has,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			if !e.Side.Peer() {
				return prepareEventBound(e, has(e.Sizes))
			}
			return func() (harness.Outcome, error) { return httpEventsOnce(e, has(e.Sizes)) }, nil, nil
		},
	}
}

func httpEventsOnce(e harness.Env, w server.World) (harness.Outcome, error) {
	if err := server.Begin(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	// Every event must reach the handler, even if it lags.
	how := rig.Setup{Strip: true, Options: []informer.Option{informer.WithBacklogThreshold(informer.Never)}}
	f, err := newFleet(e, w, watchList, how, w.Events, server.From{})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop, err := f.Start()
	if err == nil {
		err = f.WaitAdded()
	}
	defer func() { stop() }()
	if err != nil {
		return harness.Outcome{}, err
	}
	if err := f.WaitSynced(); err != nil {
		return harness.Outcome{}, err
	}
	c, err := probe.CostOf(func() error {
		if err := server.Move(e.Server); err != nil {
			return err
		}
		return rig.Wait(f[0].Updated(), "the handler to be told of all events")
	})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop()
	per := c.Per(w.Events)
	return harness.Outcome{Values: map[string]float64{
		eventsPerSecond:       1e9 / per.Wall,
		"CPU time, per event": per.CPU,
		allocatedEvent:        per.Bytes,
		allocationsEvent:      per.Allocs,
	}, Seen: f.See(e.Deep)}, nil
}
