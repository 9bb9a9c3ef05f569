// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Sink takes what a Reflector reads. Its methods are called from the goroutine that is in Run, one
// at a time, in the stream's order; they may block, which holds the stream up. Any error of theirs
// ends Run, which returns it.
//
// A replace is BeginReplace, any number of Replace and Delete, then either EndReplace or
// AbortReplace. Outside of it come Add, Update, Delete and Bookmark.
type Sink[T object.Object] interface {
	// BeginReplace starts a new full state. What was there stays until EndReplace.
	BeginReplace() error
	// Replace is one object of the new full state. A later one of the same key supersedes it.
	Replace(obj T) error
	// EndReplace says that the new full state is complete and stands at resourceVersion: what was
	// not in it is gone.
	EndReplace(resourceVersion string) error
	// AbortReplace says that the new full state will not be completed: it has to be forgotten. A
	// replace that is cut short by the end of Run is aborted too.
	AbortReplace() error

	// Add is an object that appeared.
	Add(obj T) error
	// Update is an object that changed.
	Update(obj T) error
	// Delete is an object that disappeared, in its last state. Within a replace it takes the object
	// out of the new full state, in which it need not be.
	Delete(obj T) error
	// Bookmark says that all changes up to resourceVersion have been passed on.
	Bookmark(resourceVersion string) error
}

// Flusher is a Sink that may keep what it is told until Flush is called, in order to handle it as
// one batch.
type Flusher interface {
	// Flush is called, on the same goroutine, when the source has nothing more at hand, at the
	// latest after a bounded number of calls, and when a list or a watch has ended, but not after
	// an error of the Sink. It may block and fail like Sink's methods.
	Flush() error
}

// ErrRunning is what Run returns while another Run of the same Reflector has not returned.
var ErrRunning = errors.New("the reflector is running already; wait until Run has returned")

// Reflector keeps a Sink up to date with a Source. Make it with New; Run does the work.
type Reflector[T object.Object] struct {
	// Set once at construction.
	config Config[T]

	running atomic.Bool

	// The goroutine that is in Run guards what follows.
	anew bool // the versions went back in an earlier Run, and no full state has been read since

	// mu guards status. It is held for copying only.
	mu     sync.Mutex
	status Status
}

// New makes a Reflector; it starts nothing. It fails if Source or Sink is nil, or a number in
// config is out of range.
func New[T object.Object](config Config[T]) (*Reflector[T], error) {
	config = config.withDefaults()
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("reflector.New of %s: %w", config.Name, err)
	}
	return &Reflector[T]{config: config}, nil
}

// Name returns Config.Name, or its default.
func (r *Reflector[T]) Name() string { return r.config.Name }

// Run lists and watches until ctx is done, and returns nil then. It returns earlier only with an
// error that wraps the Sink's first error. Failures of the Source never end it; Status and OnError
// report them.
//
// It may be called again after it has returned, and then starts with a full state that is not older
// than what the Sink was told before. While another Run has not returned, it returns an error that
// wraps ErrRunning. A nil ctx is an error.
func (r *Reflector[T]) Run(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("reflector %s: Run: the context is nil", r.config.Name)
	}
	if !r.running.CompareAndSwap(false, true) {
		return fmt.Errorf("reflector %s: %w", r.config.Name, ErrRunning)
	}
	defer r.running.Store(false)
	return newRun(ctx, r).loop()
}

// Status says how the reflector is doing. It may be called from any goroutine, at any time.
func (r *Reflector[T]) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.State == StateWatching && time.Since(s.Since) >= r.config.Backoff.ResetAfter {
		s.Attempts = 0
	}
	return s
}

// update changes the status.
func (r *Reflector[T]) update(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}
