// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/informer-gen/informer-gen/bench/harness"
)

// cache is a watch cache of widgets, over a storage that costs nothing: it has its objects and
// changes in advance, in the form of production storages. change is called by one goroutine.
type cache interface {
	// prepare makes the next n changes. They go around the widgets.
	prepare(n int)
	// change sends the next prepared change. It may return before the cache has the change.
	change()
	// watch opens a watch of all changes to come.
	watch(watchFuncs) error
	// endWatches ends all watches. Their functions are not called for later changes.
	endWatches()
	// close ends the watches and the cache, and waits for their end.
	close()
}

// watchFuncs are the functions of a watch to open. They are called one at a time.
type watchFuncs struct {
	// events is called with the number of events received and written to a discarding writer.
	events func(n int)
	ended  func() // called if the cache has ended the watch, other than by endWatches
}

// withCache calls work with a cache of n widgets that has passed as many changes as one in use for
// a while: 20,000 in the table. The cacher's history and its watchers' channels grow with them.
func withCache(side harness.Side, n int, z harness.Sizes, work func(cache) (map[string]float64, error)) (o harness.Outcome, err error) {
	var c cache
	if side == harness.Ours {
		c, err = newOurs(n)
	} else {
		c, err = newCacher(n)
	}
	if err != nil {
		return o, err
	}
	defer c.close()
	changes := 20 * z.Watchers
	c.prepare(changes)
	for range changes {
		c.change()
	}
	if err := settle(c); err != nil {
		return o, err
	}
	o.Values, err = work(c)
	return o, err
}

// settle waits until the cache has passed all changes on. The cacher puts undelivered ones into the
// channels of new watchers, too, and ends watchers with full channels.
func settle(c cache) error {
	defer c.endWatches()
	for passed := false; !passed; {
		over := make(chan bool, 2)
		if err := c.watch(watchFuncs{events: func(int) { over <- true }, ended: func() { over <- false }}); err != nil {
			return err
		}
		c.prepare(1)
		c.change()
		passed = <-over
	}
	return nil
}

type changes[E any] struct {
	widgets  int
	queue    chan E // for the storage's watch
	event    func(i int, version uint64) E
	version  uint64 // of the newest change that was made
	prepared []E    // the next ones
}

func (c *changes[E]) prepare(n int) {
	c.prepared = make([]E, 0, n)
	for k := range uint64(n) {
		version := c.version + k + 1
		c.prepared = append(c.prepared, c.event(int(version%uint64(c.widgets)), version))
	}
}

// change waits until the storage's watch has taken the event.
func (c *changes[E]) change() {
	var none E
	e := c.prepared[0]
	c.prepared[0] = none // it belongs to the cache now
	c.prepared = c.prepared[1:]
	c.version++
	c.queue <- e
}
