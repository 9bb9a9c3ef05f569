// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
)

// rate is the number of changes per second.
const rate = 100

// patience is the time for watchers to get missing events after the last change.
const patience = 10 * time.Second

func deliverBench() harness.Bench {
	return harness.Bench{
		Name: "deliver",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watchers × %d changes/s, bytes written, beside the cacher", z.Watchers, rate)
		},
		Against: cacherSide,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withCache(e.Side, min(1000, e.Sizes.CRs), e.Sizes, func(c cache) (map[string]float64, error) {
					l := &load{changes: max(1, int(e.Sizes.Window.Seconds()*rate))}
					for range e.Sizes.Watchers {
						if err := c.watch(l.watcher()); err != nil {
							return nil, err
						}
					}
					cost, err := probe.CostOf(func() error { return l.run(c, e.Sizes.Watchers) })
					if ended := l.ended.Load(); err == nil && ended > 0 && e.Side == harness.Ours {
						err = fmt.Errorf("%d watches were ended though they were read", ended)
					}
					return map[string]float64{"CPU time, per delivery": cost.Per(int(max(1, l.got.Load()))).CPU}, err
				})
			}, nil, nil
		},
	}
}

type load struct {
	changes  int
	got      atomic.Int64 // deliveries
	finished atomic.Int64 // watchers with all events, or ended
	ended    atomic.Int64
}

func (l *load) watcher() watchFuncs {
	got := 0
	return watchFuncs{
		events: func(n int) {
			l.got.Add(int64(n))
			if got += n; got == l.changes {
				l.finished.Add(1)
			}
		},
		ended: func() {
			l.ended.Add(1)
			l.finished.Add(1)
		},
	}
}

func (l *load) run(c cache, watchers int) error {
	c.prepare(l.changes)
	began := time.Now()
	for k := range l.changes {
		time.Sleep(time.Until(began.Add(time.Duration(k) * time.Second / rate)))
		c.change()
	}
	for last := time.Now(); int(l.finished.Load()) < watchers; time.Sleep(time.Millisecond) {
		if time.Since(last) > patience {
			return fmt.Errorf("%d of %d watchers have not got all %d changes, %v after the last one",
				watchers-int(l.finished.Load()), watchers, l.changes, patience)
		}
	}
	return nil
}

func idleBench() harness.Bench {
	return harness.Bench{
		Name: "idle",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watchers that have nothing to read, beside the cacher", z.Watchers)
		},
		Against: cacherSide,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withCache(e.Side, 10, e.Sizes, func(c cache) (map[string]float64, error) {
					before := probe.Footprint()
					for range e.Sizes.Watchers {
						if err := c.watch(watchFuncs{events: func(int) {}, ended: func() {}}); err != nil {
							return nil, err
						}
					}
					return map[string]float64{"heap and stacks, per watcher": (probe.Footprint() - before) / float64(e.Sizes.Watchers)}, nil
				})
			}, nil, nil
		},
	}
}
