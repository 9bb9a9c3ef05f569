// SPDX-License-Identifier: Apache-2.0

package intake

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

// starting is a semaphore that limits how many streams of one run start at a time. nil sets no
// limit.
type starting chan struct{}

// startingOf returns the semaphore for a stream of a run with so many. writing is held.
func (in *Intake) startingOf(streams int) starting {
	if in.starting == nil && streams > maxStarting {
		in.starting = make(starting, maxStarting)
	}
	return in.starting
}

// acquire waits until the caller's stream may start. It returns a function that lets another stream
// start, or nil without a limit. ok is false if over is closed first.
func (s starting) acquire(over <-chan struct{}) (release func(), ok bool) {
	if s == nil {
		return nil, true
	}
	select {
	case s <- struct{}{}:
	case <-over:
		return nil, false
	}
	free := sync.OnceFunc(func() { <-s })
	timer := time.AfterFunc(maxStart, free)
	return func() {
		timer.Stop()
		free()
	}, true
}
