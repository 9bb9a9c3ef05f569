// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// patience is how long watchers may take to get what they miss, after the last change.
const patience = 10 * time.Second

// load is changes at a steady rate, and watchers of all of them.
type load struct {
	cache    local.Cache
	rate     int // changes a second
	changes  int
	watchers []*watcher
	finished atomic.Int64 // watchers that have got all, or have been ended
	ended    atomic.Int64
}

// watcher counts what it gets.
type watcher struct {
	load *load
	got  int            // used by the watch's functions only, until the load has come to its end
	each func(from int) // if not nil, it is called with the number of events before the new ones
	over bool           // as got
}

// newLoad opens the watches of a load that lasts for some time.
func newLoad(c local.Cache, watchers, rate int, lasting time.Duration) (*load, error) {
	l := &load{cache: c, rate: rate, changes: max(1, int(lasting.Seconds()*float64(rate)))}
	for range watchers {
		if err := l.open(nil); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// open opens one more watch.
func (l *load) open(each func(from int)) error {
	w := &watcher{load: l, each: each}
	l.watchers = append(l.watchers, w)
	return l.cache.Watch(local.Watch{Bytes: true, Events: w.events, Ended: w.end})
}

func (w *watcher) events(n int) {
	if w.each != nil {
		w.each(w.got)
	}
	w.got += n
	if w.got >= w.load.changes {
		w.finish()
	}
}

func (w *watcher) end() {
	w.load.ended.Add(1)
	w.finish()
}

func (w *watcher) finish() {
	if !w.over {
		w.over = true
		w.load.finished.Add(1)
	}
}

// run makes the changes, and waits until the watchers have got them. Before each change it calls
// before, if that is not nil.
func (l *load) run(before func(k int)) (probe.Cost, error) {
	l.cache.Prepare(l.changes)
	return probe.CostOf(func() error {
		began := time.Now()
		for k := range l.changes {
			time.Sleep(time.Until(began.Add(time.Duration(k) * time.Second / time.Duration(l.rate))))
			if before != nil {
				before(k)
			}
			l.cache.Change()
		}
		for last := time.Now(); int(l.finished.Load()) < len(l.watchers); time.Sleep(time.Millisecond) {
			if time.Since(last) > patience {
				return fmt.Errorf("%d of %d watchers have not got all %d changes, %v after the last one",
					len(l.watchers)-int(l.finished.Load()), len(l.watchers), l.changes, patience)
			}
		}
		return nil
	})
}

// deliveries returns how many events the watchers have got. The load must have come to its end.
func (l *load) deliveries() (n int) {
	for _, w := range l.watchers {
		n += w.got
	}
	return n
}

// withCache has work done with a cache of widgets.
func withCache(side harness.Side, widgets widget.Set, work func(local.Cache) (map[string]float64, error)) (o harness.Outcome, err error) {
	c, err := local.New(side, widgets)
	if err != nil {
		return o, err
	}
	defer c.Close()
	o.Values, err = work(c)
	return o, err
}

// age makes as many changes as a cache has had that has run for a while: 20,000 in the table. The
// cacher's history and the channels of its watchers grow by that. There are no watchers yet.
func age(c local.Cache, z harness.Sizes) error {
	n := 20 * z.Watchers
	c.Prepare(n)
	for range n {
		c.Change()
	}
	return settle(c)
}

// settle waits until the cache has passed all changes on. The cacher puts what it has not passed on
// into the channels of new watchers, too, and ends those whose channels are full.
func settle(c local.Cache) error {
	defer c.EndWatches()
	for passed := false; !passed; {
		over := make(chan bool, 2)
		err := c.Watch(local.Watch{Events: func(int) { over <- true }, Ended: func() { over <- false }})
		if err != nil {
			return err
		}
		c.Prepare(1)
		c.Change()
		passed = <-over
	}
	return nil
}
