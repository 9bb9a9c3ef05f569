// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer"
)

const (
	untilDifferences = "wall time, from the first request"
	extraPeak        = "extra peak heap"
	callsPerChange   = "handler calls, per changed object"
)

// relistBench measures a relist: the watch ends with 410 after 1 % of the objects have changed,
// until the handler has the differences.
func relistBench(name string, by way) bench {
	has := func(z sizes) world { return world{Pods: z.Many, Changed: max(1, z.Many/100)} }
	return bench{
		name: name,
		title: func(z sizes) string {
			w := has(z)
			return fmt.Sprintf("relist of %s Pods by %s after 410, %s changed", digits(float64(w.Pods)), by, digits(float64(w.Changed)))
		},
		measures: []measure{
			{name: untilDifferences, unit: inTime, ratio: 0.2},
			{name: cpuUsed, unit: inTime},
			{name: extraPeak, unit: inBytes, ratio: 0.15},
			{name: allocatedPer, unit: inBytes},
			{name: callsPerChange, limit: atMost(1)},
		},
		world: has,
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			return func() (outcome, error) { return relistOnce(e, has(e.sizes), by) }, nil, nil
		},
	}
}

func relistOnce(e env, w world, by way) (outcome, error) {
	if err := begin(e.server); err != nil {
		return outcome{}, err
	}
	var asked firstRequest
	f, err := newFleet(e, w, by, setup{strip: true}, w.Changed, from{around: asked.around})
	if err != nil {
		return outcome{}, err
	}
	stop, err := f.start()
	if err == nil {
		err = f.waitAdded()
	}
	defer func() { stop() }()
	if err != nil {
		return outcome{}, err
	}
	if err := f.waitSynced(); err != nil { // so the watch is open, or is being opened
		return outcome{}, err
	}
	base := liveHeap()
	asked.arm()
	peak := watchHeap()
	m := startMeter()
	if err := move(e.server); err != nil {
		return outcome{}, err
	}
	if err := wait(f[0].updated(), "the handler to be told of the differences"); err != nil {
		return outcome{}, err
	}
	c := m.stop()
	highest := peak() - base
	took := f[0].updatedAt().Sub(asked.when())
	if err := f.waitSynced(); err != nil {
		return outcome{}, err
	}
	stop() // after it, calls for other objects have been counted, too
	return outcome{Values: map[string]float64{
		untilDifferences: float64(took),
		cpuUsed:          float64(c.cpu),
		extraPeak:        highest,
		allocatedPer:     c.per(w.Pods).bytes,
		callsPerChange:   float64(w.Changed+f[0].repeats()) / float64(w.Changed),
	}, Seen: f.see(e.deep)}, nil
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
func httpEventBench() bench {
	has := func(z sizes) world { return world{Pods: z.HTTPPods, Events: z.HTTPEvents} }
	return bench{
		name: "http-events",
		title: func(z sizes) string {
			w := has(z)
			return fmt.Sprintf("%s MODIFIED events of %s Pods from the wire, without managedFields", digits(float64(w.Events)), digits(float64(w.Pods)))
		},
		measures: []measure{
			{name: eventsPerSecond, unit: perSecond, more: true, ratio: 3},
			{name: "CPU time, per event", unit: inTime},
			{name: allocatedEvent, unit: inBytes},
			{name: allocationsEvent},
		},
		others: []side{reading, splitting},
		world:  has,
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			if !e.side.peer() {
				return prepareEventBound(e, has(e.sizes))
			}
			return func() (outcome, error) { return httpEventsOnce(e, has(e.sizes)) }, nil, nil
		},
	}
}

func httpEventsOnce(e env, w world) (outcome, error) {
	if err := begin(e.server); err != nil {
		return outcome{}, err
	}
	// Every event must reach the handler, even if it lags.
	how := setup{strip: true, options: []informer.Option{informer.WithBacklogThreshold(informer.Never)}}
	f, err := newFleet(e, w, watchList, how, w.Events, from{})
	if err != nil {
		return outcome{}, err
	}
	stop, err := f.start()
	if err == nil {
		err = f.waitAdded()
	}
	defer func() { stop() }()
	if err != nil {
		return outcome{}, err
	}
	if err := f.waitSynced(); err != nil {
		return outcome{}, err
	}
	c, err := costOf(func() error {
		if err := move(e.server); err != nil {
			return err
		}
		return wait(f[0].updated(), "the handler to be told of all events")
	})
	if err != nil {
		return outcome{}, err
	}
	stop()
	per := c.per(w.Events)
	return outcome{Values: map[string]float64{
		eventsPerSecond:       1e9 / per.wall,
		"CPU time, per event": per.cpu,
		allocatedEvent:        per.bytes,
		allocationsEvent:      per.allocs,
	}, Seen: f.see(e.deep)}, nil
}
