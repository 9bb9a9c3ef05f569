// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Sink receives the objects and events of a [Reflector]. Its methods are called on the goroutine
// that calls Run, one at a time, in the stream's order. They may block, which delays the stream. If
// one returns an error, Run ends, and returns an error that wraps it.
//
// A replace is BeginReplace, any number of Replace and Delete, then exactly one EndReplace or
// AbortReplace, unless the Sink itself has failed. Outside of it come Add, Update, Delete and
// Bookmark, never with an older version than the previous call's.
//
// A Sink with a method Flush() error may hold back its calls until Flush, to handle them as one
// batch. Flush is called after each event, except while the Source reports that more have arrived
// (More of [source.Event]), and then after at most 128. It is also called at the end of each list
// and watch, but not after an error of the Sink. It may block and fail like the other methods.
type Sink[T object.Object] interface {
	// BeginReplace starts a new full state. The previous objects stay until EndReplace.
	BeginReplace() error
	// Replace adds one object to the new full state. A later one with the same key replaces it.
	Replace(obj T) error
	// EndReplace completes the new full state, which is at resourceVersion. All other objects no
	// longer exist.
	EndReplace(resourceVersion string) error
	// AbortReplace tells the Sink to drop the new full state. It is also called when the end of Run
	// interrupts a replace.
	AbortReplace() error

	// Add is called with an added object.
	Add(obj T) error
	// Update is called with a modified object.
	Update(obj T) error
	// Delete is called with the last state of a deleted object. Within a replace it removes the
	// object from the new full state, if present.
	Delete(obj T) error
	// Bookmark is called when all changes up to resourceVersion have been passed on.
	Bookmark(resourceVersion string) error
}

type flusher interface{ Flush() error }

// Reflector keeps a [Sink] up to date with a [source.Source]. Make it with [New]; [Reflector.Run]
// does the work.
type Reflector[T object.Object] struct {
	// Set once at construction.
	config Config[T]

	running atomic.Bool
	relist  relist

	// Used only by the goroutine that calls Run:
	noReuse bool // the versions went back in an earlier Run, and no full state has been read since

	// mu guards status. It is held for copying only.
	mu     sync.Mutex
	status Status
}

// New makes a Reflector; it starts nothing. It returns an error if Source or Sink is nil, or a
// number in config is out of range.
func New[T object.Object](config Config[T]) (*Reflector[T], error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("reflector.New of %s: %w", config.Name, err)
	}
	return &Reflector[T]{config: config}, nil
}

// Run lists and watches until ctx is done, and then returns nil. It returns earlier only with an
// error that wraps the Sink's first error. Failures of the Source never end it; Status and OnError
// report them.
//
// It may be called again after it has returned. It then starts with a full state no older than the
// Sink's. Calling it while another Run has not returned is an error, and so is a nil ctx.
func (r *Reflector[T]) Run(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("reflector %s: Run: the context is nil", r.config.Name)
	}
	if !r.running.CompareAndSwap(false, true) {
		return fmt.Errorf("reflector %s: the reflector is running already; wait until Run has returned", r.config.Name)
	}
	defer r.running.Store(false)
	return newRun(ctx, r).loop()
}

// Status returns the reflector's status. It may be called from any goroutine, at any time.
func (r *Reflector[T]) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.State == StateWatching && time.Since(s.Since) >= r.config.Backoff.ResetAfter {
		s.Attempts = 0
	}
	return s
}

func (r *Reflector[T]) update(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}
