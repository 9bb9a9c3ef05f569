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

// startLimit is a semaphore that limits how many streams of one run start at a time. nil sets no
// limit.
type startLimit chan struct{}

// startLimitFor returns the semaphore for a run of so many streams. writeMu is held.
func (in *Intake) startLimitFor(streams int) startLimit {
	if in.startLimit == nil && streams > maxStarting {
		in.startLimit = make(startLimit, maxStarting)
	}
	return in.startLimit
}

// acquire waits until the caller's stream may start. It returns a function that lets another stream
// start, or nil without a limit. ok is false if over is closed first.
func (l startLimit) acquire(over <-chan struct{}) (release func(), ok bool) {
	if l == nil {
		return nil, true
	}
	select {
	case l <- struct{}{}:
	case <-over:
		return nil, false
	}
	free := sync.OnceFunc(func() { <-l })
	timer := time.AfterFunc(maxStart, free)
	return func() {
		timer.Stop()
		free()
	}, true
}
