// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/informer-gen/informer-gen/bench/watchcache/widget"

// changes are those of a storage, in its form of events.
type changes[E any] struct {
	widgets widget.Set
	events  chan E // for the storage's watch
	event   func(i int, version uint64) E
	version uint64 // of the newest change that was made
	ready   []E    // the next ones
}

// Prepare implements [Cache].
func (c *changes[E]) Prepare(n int) {
	c.ready = make([]E, 0, n)
	for k := range uint64(n) {
		version := c.version + k + 1
		c.ready = append(c.ready, c.event(c.at(version), version))
	}
}

// at returns the number of the widget that has a version.
func (c *changes[E]) at(version uint64) int { return int(version % uint64(c.widgets.Len)) }

// Change implements [Cache]. It waits until the storage's watch has taken the event.
func (c *changes[E]) Change() (i int) {
	var none E
	e := c.ready[0]
	c.ready[0] = none // it is the cache's now
	c.ready = c.ready[1:]
	c.version++
	c.events <- e
	return c.at(c.version)
}
