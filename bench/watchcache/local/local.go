// SPDX-License-Identifier: Apache-2.0

// Package local has watch caches in this process: ours and the cacher of k8s.io/apiserver. Each
// stands over a storage that costs nothing: it has its objects and changes before they are wanted,
// in the form in which the storages of production give them away. All caches have the widgets of
// package widget.
package local

import (
	"context"
	"fmt"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// Cacher is the side of the cacher.
const Cacher harness.Side = "cacher"

// Cache is a watch cache. Change is called by one goroutine.
type Cache interface {
	// Prepare makes the next n changes ready. They go around the widgets.
	Prepare(n int)
	// Change makes the next change that is ready, and returns the number of the widget. It may
	// return before the cache has the change.
	Change() (i int)
	// Watch opens a watch of all changes to come.
	Watch(Watch) error
	// EndWatches ends all watches. Their functions are not called for later changes.
	EndWatches()
	// Close ends the watches and the cache, and waits for that.
	Close()
}

// Watch is a watch that is to be opened. Its functions are called one at a time.
type Watch struct {
	Node  string // the widgets' value of the field; "": any
	Bytes bool   // write the events to a writer that discards them, as a handler writes them
	// Events is called with a number of events that have come. It is nil in a watch that reads
	// nothing.
	Events func(n int)
	// Ended is called if the cache has ended the watch, other than by EndWatches.
	Ended func()
}

// New returns a cache of widgets that runs.
func New(side harness.Side, widgets widget.Set) (Cache, error) {
	switch side {
	case harness.Ours:
		return NewOurs(context.Background(), widgets)
	case Cacher:
		return newCacher(context.Background(), widgets)
	}
	return nil, fmt.Errorf("there is no watch cache of %s", side)
}
