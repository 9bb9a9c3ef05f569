// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// An informer of many namespaces does not ask for all of them at once: maxStarting streams start at
// a time. A stream has started when it has brought a full state, when one of its requests has
// failed, or after maxStart. So a stream that hangs delays the others, but doesn't keep them from
// syncing.
const (
	maxStarting = 16
	maxStart    = 2 * time.Second
)

// turns limits how many streams of one run start at a time. nil sets no limit.
type turns chan struct{}

func newTurns(streams int) turns {
	if streams <= maxStarting {
		return nil
	}
	return make(turns, maxStarting)
}

// wait waits for the caller's turn. It returns a function that ends the turn, which any goroutine
// may call, more than once too. ok is false if the run is over before the turn begins.
func (t turns) wait(over <-chan struct{}) (end func(), ok bool) {
	if t == nil {
		return func() {}, true
	}
	select {
	case t <- struct{}{}:
	case <-over:
		return nil, false
	}
	free := sync.OnceFunc(func() { <-t })
	timer := time.AfterFunc(maxStart, free)
	return func() {
		timer.Stop()
		free()
	}, true
}
