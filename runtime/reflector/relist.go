// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"sync"
)

// relist is a request for a new full state.
type relist struct {
	mu sync.Mutex // guards the rest
	// Requests are counted. Those up to begun came before the current or last full state was begun,
	// those up to done before a complete one was.
	requested, begun, done int64
	// interrupt ends the open watch; nil during its initial events, and without a watch.
	interrupt context.CancelCauseFunc
}

var errRelist = errors.New("a full state was requested")

// Relist makes Run read another full state, by a request that begins after the call. It waits for
// nothing. A full state that is being read is completed first, a wait after a failure goes on, and
// the Sink keeps its objects meanwhile. Calls before that request begins count as one. Without a
// Run, it does nothing: Run begins with a full state.
//
// It is for a Source that has begun to select more objects.
func (r *Reflector[T]) Relist() {
	r.relist.mu.Lock()
	defer r.relist.mu.Unlock()
	r.relist.requested++
	if r.relist.interrupt != nil {
		r.relist.interrupt(errRelist)
	}
}

// begin is called before the request of a full state.
func (r *relist) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = r.requested
}

// complete is called when the Sink has a full state.
func (r *relist) complete() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = r.begun
}

// watching lets Relist end a watch that has no initial events, or is past them.
func (r *relist) watching(interrupt context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupt = interrupt
	if r.requested > r.done {
		interrupt(errRelist)
	}
}

func (r *relist) watchEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interrupt = nil
}
