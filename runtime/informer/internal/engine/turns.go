// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// An informer of many namespaces does not ask for all of them at once: maxStarting streams start at
// a time. A stream has started when it has brought a full state, when a request of it has failed,
// or after maxStart: those that hang delay the others, and don't keep them from syncing.
const (
	maxStarting = 16
	maxStart    = 2 * time.Second
)

// turns are those in which the streams of one run start. nil gives everybody a turn at once.
type turns chan struct{}

func newTurns(streams int) turns {
	if streams <= maxStarting {
		return nil
	}
	return make(turns, maxStarting)
}

// wait returns when it is the caller's turn, and a function that ends the turn, which may be called
// more than once, by any goroutine. It returns false if the run is over before.
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
