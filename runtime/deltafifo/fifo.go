// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"context"
	"errors"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// ErrClosed is returned by Push if the queue is closed, and by Pop once a closed queue is empty.
var ErrClosed = errors.New("the queue is closed")

// DefaultCapacity is the capacity of a queue unless [New] is called with another.
const DefaultCapacity = 1024

// DeltaFIFO is a bounded queue of deltas.
type DeltaFIFO[T object.Object] struct {
	capacity int // set once at construction

	mu       sync.Mutex // guards the fields below
	deltas   []Delta[T]
	closed   bool
	notEmpty signal // there are deltas, or the queue is closed
	notFull  signal // there is room, or the queue is closed
}

// New returns an empty queue. Push blocks while capacity deltas wait; values below 1 mean
// [DefaultCapacity].
func New[T object.Object](capacity int) *DeltaFIFO[T] {
	if capacity < 1 {
		capacity = DefaultCapacity
	}
	return &DeltaFIFO[T]{capacity: capacity, notEmpty: newSignal(), notFull: newSignal()}
}

// Push adds deltas, waiting while the queue is full. If the queue is closed before or meanwhile, it
// returns [ErrClosed], having added only the deltas until then. It does not keep the slice.
func (f *DeltaFIFO[T]) Push(batch []Delta[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(batch) > 0 {
		for !f.closed && len(f.deltas) >= f.capacity {
			f.sleepLocked(context.Background(), &f.notFull)
		}
		f.notFull.wake() // the next waiting goroutine
		if f.closed {
			return ErrClosed
		}
		n := min(f.capacity-len(f.deltas), len(batch))
		f.deltas = append(f.deltas, batch[:n]...)
		batch = batch[n:]
		f.notEmpty.wake()
	}
	return nil
}

// Pop waits for deltas, and returns all of them: at most the capacity, in order. The queue keeps
// spare, which may be nil, as memory for later deltas; its elements must be the zero Delta. The
// error is context.Cause(ctx) if ctx is done, even if there are deltas, and [ErrClosed] if the
// queue is closed and empty.
func (f *DeltaFIFO[T]) Pop(ctx context.Context, spare []Delta[T]) ([]Delta[T], error) {
	if ctx == nil {
		return nil, errors.New("DeltaFIFO.Pop: the context is nil")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.notEmpty.wake() // the next waiting goroutine
	for ctx.Err() == nil {
		if all := f.deltas; len(all) > 0 {
			f.deltas = spare[:0]
			f.notFull.wake()
			return all, nil
		}
		if f.closed {
			return nil, ErrClosed
		}
		f.sleepLocked(ctx, &f.notEmpty)
	}
	return nil, context.Cause(ctx)
}

// Len returns the number of waiting deltas.
func (f *DeltaFIFO[T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.deltas)
}

// Close closes the queue: waiting calls of Push return [ErrClosed], and Pop returns the remaining
// deltas and then ErrClosed. Closing again does nothing.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.notEmpty.wake()
	f.notFull.wake()
}

// signal wakes waiting goroutines; DeltaFIFO.mu guards it. wake wakes one of them, and each that
// stops waiting, for any reason, wakes the next. So a wake reaches all of them, or one that finds
// nothing and waits again, as those after it would. Waiting does not allocate, because the consumer
// waits for every event that comes alone.
type signal struct {
	// token has capacity 1.
	token   chan struct{}
	waiting int
}

func newSignal() signal { return signal{token: make(chan struct{}, 1)} }

func (s *signal) wake() {
	if s.waiting == 0 {
		return
	}
	select {
	case s.token <- struct{}{}:
	default: // a goroutine is being woken already
	}
}

// sleepLocked releases mu until the goroutine is woken or ctx is done. It may also return for no
// reason.
func (f *DeltaFIFO[T]) sleepLocked(ctx context.Context, s *signal) {
	s.waiting++
	f.mu.Unlock()
	select {
	case <-s.token:
	case <-ctx.Done():
	}
	f.mu.Lock()
	s.waiting--
}
