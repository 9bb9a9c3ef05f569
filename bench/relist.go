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

// relistBench measures a relist: the watch ends with 410 after 1 % of the objects have changed,
// until the handler has the differences.
func relistBench(name string, protobuf bool) harness.Bench {
	has := func(z harness.Sizes) server.World {
		return server.World{Pods: z.Many, Changed: max(1, z.Many/100), Protobuf: protobuf}
	}
	return harness.Bench{
		Name: "relist/" + name,
		Title: func(z harness.Sizes) string {
			w, in := has(z), ""
			if protobuf {
				in = " in protobuf"
			}
			return fmt.Sprintf("relist of %s Pods%s by watch-list after 410, %s changed", report.Digits(float64(w.Pods)), in, report.Digits(float64(w.Changed)))
		},
		World:   has,
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) { return relistOnce(e, has(e.Sizes)) }),
	}
}

func relistOnce(e harness.Env, w server.World) (harness.Outcome, error) {
	if err := server.Begin(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	var asked firstRequest
	f, err := newFleet(e, w, fleet{updates: w.Changed, around: asked.around})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop, err := startSynced(f)
	if err != nil {
		return harness.Outcome{}, err
	}
	defer func() { stop() }()
	base := probe.LiveHeap()
	asked.arm()
	peak := probe.WatchHeap()
	if err := server.Move(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	if err := rig.Wait(f[0].Updated(), "the handler to get the differences"); err != nil {
		return harness.Outcome{}, err
	}
	highest := peak() - base
	took := f[0].UpdatedAt().Sub(asked.when())
	if err := rig.WaitSynced(f); err != nil {
		return harness.Outcome{}, err
	}
	stop()
	return harness.Outcome{Values: map[string]float64{
		"wall time, from the first request": float64(took),
		"extra peak heap":                   highest,
	}, Seen: f.See(e.Deep)}, nil
}

// firstRequest records the time of the first request for all objects after arm.
type firstRequest struct {
	mu    sync.Mutex // guards the fields below
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
		f.mu.Lock()
		if f.armed && f.sent.IsZero() && listsAll(r) {
			f.sent = time.Now()
		}
		f.mu.Unlock()
		return next.RoundTrip(r)
	})
}

func wireBenches() []harness.Bench {
	return []harness.Bench{wireBench("json", "", false), wireBench("protobuf", " in protobuf", true)}
}

// wireBench measures MODIFIED events on one watch, from the wire to the handler, as fast as they
// are read.
func wireBench(name, in string, protobuf bool) harness.Bench {
	has := func(z harness.Sizes) server.World {
		return server.World{Pods: z.Pods / 4, Events: z.Events, Protobuf: protobuf}
	}
	return harness.Bench{
		Name: "event/" + name,
		Title: func(z harness.Sizes) string {
			w := has(z)
			return fmt.Sprintf("%s MODIFIED events of %s Pods from the wire%s, without managedFields", report.Digits(float64(w.Events)), report.Digits(float64(w.Pods)), in)
		},
		World:   has,
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) { return wireOnce(e, has(e.Sizes)) }),
	}
}

func wireOnce(e harness.Env, w server.World) (harness.Outcome, error) {
	if err := server.Begin(e.Server); err != nil {
		return harness.Outcome{}, err
	}
	// Every event must reach the handler, even if it lags.
	f, err := newFleet(e, w, fleet{updates: w.Events, options: []informer.Option{informer.WithBacklogThreshold(informer.Never)}})
	if err != nil {
		return harness.Outcome{}, err
	}
	stop, err := startSynced(f)
	if err != nil {
		return harness.Outcome{}, err
	}
	c, err := probe.CostOf(func() error {
		if err := server.Move(e.Server); err != nil {
			return err
		}
		return rig.Wait(f[0].Updated(), "the handler to get all events")
	})
	stop()
	return harness.Outcome{Values: map[string]float64{perEvent: c.Per(w.Events).CPU}, Seen: f.See(e.Deep)}, err
}
