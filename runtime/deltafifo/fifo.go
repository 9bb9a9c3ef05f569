// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Errors that the methods of a DeltaFIFO return.
var (
	// ErrClosed is returned by the methods that add, if the queue is closed, and by PopBatch and
	// Pop once a closed queue is empty.
	ErrClosed = errors.New("the queue is closed")
	// ErrMixed is returned by Pop after PopBatch was called on the same queue, and by PopBatch
	// after Pop.
	ErrMixed = errors.New("a queue is emptied by Pop or by PopBatch, not by both")
)

// DefaultCapacity is the capacity of a queue whose Options have none.
const DefaultCapacity = 1024

// Options configure a DeltaFIFO. The zero value is usable.
type Options[T object.Object] struct {
	// Capacity is how many deltas may wait before the goroutine that adds more is blocked. Values
	// below 1 mean [DefaultCapacity]. With Pop, a full state does not count until it is complete;
	// then it may exceed Capacity.
	Capacity int
	// Known returns the objects that the consumer has. Pop reports those that a full state lacks as
	// Deleted. Known is called with the queue's lock held and must not use the queue. If it is nil,
	// Pop only finds the missing objects that still wait in the queue.
	Known func() iter.Seq[T]
}

// DeltaFIFO is a queue of deltas. It keeps the stream's order, drops nothing, and blocks a producer
// that adds to it too fast.
type DeltaFIFO[T object.Object] struct {
	options Options[T] // set once at construction

	consuming chan struct{} // holds a token while Pop runs process; taken before mu

	mu      sync.Mutex // mu guards what follows
	stream  []Delta[T] // the deltas that no consumer has taken yet
	keyed   keyed[T]   // the deltas that Pop has moved out of stream and not handed over yet
	mode    mode
	closed  bool
	synced  bool
	filled  signal // there are deltas to take, or no more will come
	drained signal // there is room to add, or no more is needed
}

// New returns an empty queue.
func New[T object.Object](options Options[T]) *DeltaFIFO[T] {
	if options.Capacity <= 0 {
		options.Capacity = DefaultCapacity
	}
	return &DeltaFIFO[T]{options: options, consuming: make(chan struct{}, 1), filled: newSignal(), drained: newSignal()}
}

// Add adds an [Added] of obj. Like every method that adds, it blocks while the queue is full, and
// returns [ErrClosed] once the queue is closed.
func (f *DeltaFIFO[T]) Add(obj T) error { return f.push(objectDelta(Added, obj)) }

// Update adds a [Modified] of obj.
func (f *DeltaFIFO[T]) Update(obj T) error { return f.push(objectDelta(Modified, obj)) }

// Delete adds a [Deleted] of obj. Within a full state it removes obj from that.
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.push(objectDelta(Deleted, obj)) }

// Sync adds a [Sync] of obj: obj should be handled again. Pop leaves it out if a newer delta waits
// for the same key.
func (f *DeltaFIFO[T]) Sync(obj T) error { return f.push(objectDelta(Sync, obj)) }

// BeginReplace begins a full state.
func (f *DeltaFIFO[T]) BeginReplace() error { return f.push(Delta[T]{Type: ReplaceStarted}) }

// Replace adds a [Replaced] of obj: obj is part of the full state.
func (f *DeltaFIFO[T]) Replace(obj T) error { return f.push(objectDelta(Replaced, obj)) }

// EndReplace completes the full state, which is at resourceVersion.
func (f *DeltaFIFO[T]) EndReplace(resourceVersion string) error {
	return f.push(Delta[T]{Type: ReplaceEnded, ResourceVersion: resourceVersion})
}

// AbortReplace gives the full state up.
func (f *DeltaFIFO[T]) AbortReplace() error { return f.push(Delta[T]{Type: ReplaceAborted}) }

// Bookmark marks that the stream has reached resourceVersion.
func (f *DeltaFIFO[T]) Bookmark(resourceVersion string) error {
	return f.push(Delta[T]{Type: Bookmark, ResourceVersion: resourceVersion})
}

// PushBatch adds deltas, as the methods for each of them do. It takes the lock once for as many
// deltas as there is room for. If the queue is closed, before or meanwhile, it returns [ErrClosed],
// and only the deltas until then were added. It does not keep the slice.
func (f *DeltaFIFO[T]) PushBatch(batch []Delta[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(batch) > 0 {
		room, err := f.roomLocked()
		if err != nil {
			return err
		}
		n := min(room, len(batch))
		f.stream = append(f.stream, batch[:n]...)
		batch = batch[n:]
		wake(&f.filled)
	}
	return nil
}

// PopBatch blocks until deltas wait, then appends all of them to dst, which may be nil, and returns
// the extended slice: at most Capacity deltas, in the stream's order. With an error it returns dst
// unchanged. The error is context.Cause(ctx) if ctx is done, even if deltas wait; [ErrClosed] if
// the queue is closed and empty; or [ErrMixed].
func (f *DeltaFIFO[T]) PopBatch(ctx context.Context, dst []Delta[T]) ([]Delta[T], error) {
	if ctx == nil {
		return dst, errors.New("DeltaFIFO.PopBatch: the context is nil")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(ctx, byBatch, func() bool { return len(f.stream) > 0 }); err != nil {
		return dst, err
	}
	dst = append(dst, f.stream...)
	complete := false
	for i := range f.stream {
		complete = complete || f.stream[i].Type == ReplaceEnded
	}
	f.synced = f.synced || complete
	if complete {
		f.stream = nil // later batches need less room than a full state
	} else {
		f.emptyStreamLocked()
	}
	wake(&f.drained)
	return dst, nil
}

// Len returns how many deltas wait. It does not count those of a full state that Pop holds back
// until the state is complete.
func (f *DeltaFIFO[T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lenLocked()
}

// HasSynced reports whether PopBatch has taken all of the first full state, or Pop has processed
// all of it. Once true, it stays true.
func (f *DeltaFIFO[T]) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced
}

// Close closes the queue. Goroutines that are blocked because it is full get [ErrClosed]. PopBatch
// and Pop return the remaining deltas, and then ErrClosed. Closing again does nothing.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	wake(&f.filled)
	wake(&f.drained)
}

func (f *DeltaFIFO[T]) push(d Delta[T]) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.roomLocked(); err != nil {
		return err
	}
	f.stream = append(f.stream, d)
	wake(&f.filled)
	return nil
}

// lenLocked returns how many deltas wait. It does not count a full state that is held back, so that
// the state can be completed.
func (f *DeltaFIFO[T]) lenLocked() int { return len(f.stream) + f.keyed.waiting }

func (f *DeltaFIFO[T]) emptyStreamLocked() {
	clear(f.stream) // so that it keeps no objects alive
	f.stream = f.stream[:0]
}
