// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/watchcache/remote"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// watchQuery is a watch of all changes to come.
const watchQuery = "?watch=true&timeoutSeconds=3600&sendInitialEvents=false&resourceVersion=0&resourceVersionMatch=NotOlderThan"

// withServer has work done with a server of so many widgets.
func withServer(side harness.Side, widgets int, work func(remote.Server) (map[string]float64, error)) (o harness.Outcome, err error) {
	s, err := remote.Serve(context.Background(), side, widget.Unlike(widgets))
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	o.Values, err = work(s)
	return o, err
}

// withClients has work done while there are clients.
func withClients(t remote.Task, work func(*remote.Clients) error) (err error) {
	c, err := remote.Start(t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	return work(c)
}

// eventsBench has changes reach many watchers over HTTP.
func eventsBench() harness.Bench {
	const rate = 20
	return harness.Bench{
		Name: "http/deliver",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watchers × %d changes/s over HTTP, without the cost of the changes themselves", z.Watchers, rate)
		},
		Against: remote.Devserver,
		Measures: []harness.Measure{
			{Name: perDelivery, Unit: harness.Time, Ratio: 0.6},
			{Name: endedThough, Limit: harness.AtMost(0)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withServer(e.Side, 10, func(s remote.Server) (map[string]float64, error) {
					changes := max(1, int(e.Sizes.Window.Seconds()*rate))
					alone, err := changeAt(s, rate, changes, nil)
					if err != nil {
						return nil, err
					}
					values := map[string]float64{}
					err = withClients(watchers(s, e), func(c *remote.Clients) error {
						if err := opened(c, e); err != nil {
							return err
						}
						all := int64(changes) * int64(e.Sizes.Watchers)
						var n remote.Count
						cost, err := changeAt(s, rate, changes, func() (err error) {
							n, err = c.Await(func(n remote.Count) bool { return n.Lines >= all || n.Done > 0 })
							return err
						})
						values[perDelivery] = float64(cost.CPU-alone.CPU) / float64(max(1, n.Lines))
						values[endedThough] = float64(n.Done)
						return err
					})
					return values, err
				})
			}, nil, nil
		},
	}
}

// watchers are clients that watch all widgets.
func watchers(s remote.Server, e harness.Env) remote.Task {
	return remote.Task{URL: s.URL() + watchQuery, Clients: e.Sizes.Watchers, Times: 1}
}

// opened waits until all watches are open.
func opened(c *remote.Clients, e harness.Env) error {
	_, err := c.Await(func(n remote.Count) bool { return n.Open == e.Sizes.Watchers })
	return err
}

// changeAt makes changes at a rate, then calls after, and returns what all that has cost.
func changeAt(s remote.Server, rate, changes int, after func() error) (probe.Cost, error) {
	s.Prepare(changes)
	return probe.CostOf(func() error {
		began := time.Now()
		for k := range changes {
			time.Sleep(time.Until(began.Add(time.Duration(k) * time.Second / time.Duration(rate))))
			if err := s.Change(); err != nil {
				return err
			}
		}
		if after == nil {
			return nil
		}
		return after()
	})
}

// idleHTTPBench measures watches that have nothing to send.
func idleHTTPBench() harness.Bench {
	return harness.Bench{
		Name: "http/idle",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watches over HTTP that have nothing to send", z.Watchers)
		},
		Against:  remote.Devserver,
		Measures: []harness.Measure{{Name: agedWatcher, Unit: harness.Bytes, Ratio: 0.25}},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withServer(e.Side, 10, func(s remote.Server) (map[string]float64, error) {
					before, values := inUse(), map[string]float64{}
					err := withClients(watchers(s, e), func(c *remote.Clients) error {
						if err := opened(c, e); err != nil {
							return err
						}
						values[agedWatcher] = (inUse() - before) / float64(e.Sizes.Watchers)
						return nil
					})
					return values, err
				})
			}, nil, nil
		},
	}
}

// reads are what clients of a server ask for.
var reads = []struct {
	name, query string
	until       string // the end of a watch
	ratio       float64
	join        bool // many clients ask at once
}{
	{"list of all, CPU time", "?resourceVersion=0", "", 0.1, false},
	{"page of 500, CPU time", "?limit=500", "", 0.2, false},
	{"1 % by a label, CPU time", "?resourceVersion=0&labelSelector=rare%3Dyes", "", 0.3, false},
	{"watch-list of all, CPU time", watchList, initialEnd, 0.1, false},
	{"watch-list of all by many at once, CPU time of each", watchList, initialEnd, 0.1, true},
}

// A watch that begins with all objects, and the end of these.
const (
	watchList  = "?watch=true&timeoutSeconds=3600&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersion=0&resourceVersionMatch=NotOlderThan"
	initialEnd = "k8s.io/initial-events-end"
)

// listBytes is the measure of an answer's size, which shows that both sides have sent the same.
const listBytes = "list of all, bytes"

// readsBench has clients read a collection.
func readsBench() harness.Bench {
	b := harness.Bench{
		Name: "http/read",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d custom resources over HTTP, many being %d clients (of the devserver: %d)", z.CRs, z.Watchers, joining(remote.Devserver, z))
		},
		Against:  remote.Devserver,
		Measures: []harness.Measure{{Name: listBytes, Unit: harness.Bytes}},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withServer(e.Side, e.Sizes.CRs, func(s remote.Server) (map[string]float64, error) {
					values := map[string]float64{}
					for _, r := range reads {
						t := remote.Task{URL: s.URL() + r.query, Clients: 1, Times: 10, Until: r.until}
						if r.join {
							t.Clients, t.Times = joining(e.Side, e.Sizes), 1
						}
						cost, n, err := read(t)
						if err != nil {
							return nil, fmt.Errorf("%s: %w", r.name, err)
						}
						values[r.name] = cost.Per(t.Clients * t.Times).CPU
						if r.name == reads[0].name {
							values[listBytes] = float64(n.Bytes) / float64(t.Times)
						}
					}
					return values, nil
				})
			}, nil, nil
		},
	}
	for _, r := range reads {
		b.Measures = append(b.Measures, harness.Measure{Name: r.name, Unit: harness.Time, Ratio: r.ratio})
	}
	return b
}

// joining returns how many clients join a server at once. They are fewer with an API server, which
// would take minutes.
func joining(side harness.Side, z harness.Sizes) int {
	if side == remote.Devserver {
		return max(1, z.Watchers/100)
	}
	return z.Watchers
}

// read returns what it costs this process to answer clients.
func read(t remote.Task) (cost probe.Cost, n remote.Count, err error) {
	cost, err = probe.CostOf(func() error {
		return withClients(t, func(c *remote.Clients) error {
			n, err = c.Await(func(n remote.Count) bool { return n.Done == t.Clients })
			return err
		})
	})
	return cost, n, err
}
