// SPDX-License-Identifier: Apache-2.0

// Package deltafifo has the queue between the goroutine that reads a stream of changes and the one
// that applies them.
//
// # Order and blocking
//
// One goroutine at a time adds to a [DeltaFIFO], usually that of a reflector: a DeltaFIFO
// implements reflector.Sink, and has Sync and PushBatch in addition. A consumer takes from it
// either by PopBatch or by Pop. PopBatch takes the oldest deltas of the stream, unchanged. Pop
// takes one key with all deltas that wait for it: keys come in the order of their oldest delta, the
// deltas of a key in the order of the stream. With Pop, the order of deltas of different keys is
// lost.
//
// A full queue blocks the goroutine that adds to it until deltas are taken or the queue is closed.
// An empty one blocks Pop and PopBatch. In short: the server is read as fast as its changes are
// applied, and no faster.
//
// # Goroutines
//
// A DeltaFIFO starts none, and its methods may be called by any. The goroutine that calls Pop calls
// Options.Known, with the queue's lock held, and process, without it.
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

// signal wakes the goroutines that wait for it; mu guards it. wake wakes one of them, and each that
// stops waiting, for any reason, wakes the next. So a wake reaches all of them, or one that finds
// nothing and waits again, as those after it would. Waiting does not allocate, because the consumer
// waits for every event that comes alone.
type signal struct {
	// token has capacity 1 and is set once at construction. The goroutine that takes the token out
	// of it is awake.
	token   chan struct{}
	waiting int
}

func newSignal() signal { return signal{token: make(chan struct{}, 1)} }

// mode is which method takes from a queue.
type mode uint8

const (
	unknown mode = iota
	byBatch
	byKey
)

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

// --- private from here ---

func objectDelta[T object.Object](t Type, obj T) Delta[T] {
	return Delta[T]{Type: t, Key: object.KeyOf(obj), Object: obj, ResourceVersion: obj.GetResourceVersion()}
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

// roomLocked waits until there is room, and returns for how many deltas.
func (f *DeltaFIFO[T]) roomLocked() (int, error) {
	for !f.closed && f.lenLocked() >= f.options.Capacity {
		f.sleepLocked(context.Background(), &f.drained)
	}
	wake(&f.drained) // the next producer
	if f.closed {
		return 0, ErrClosed
	}
	return f.options.Capacity - f.lenLocked(), nil
}

// waitLocked waits until ready returns true; it calls ready with mu held. It also sets the queue's
// mode.
func (f *DeltaFIFO[T]) waitLocked(ctx context.Context, m mode, ready func() bool) error {
	if f.mode != unknown && f.mode != m {
		return ErrMixed
	}
	f.mode = m
	defer wake(&f.filled) // the next consumer
	for ctx.Err() == nil {
		if ready() {
			return nil
		}
		if f.closed {
			return ErrClosed
		}
		f.sleepLocked(ctx, &f.filled)
	}
	return context.Cause(ctx)
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

// wake wakes one of the goroutines that wait.
func wake(s *signal) {
	if s.waiting == 0 {
		return
	}
	select {
	case s.token <- struct{}{}:
	default: // a goroutine is being woken already
	}
}

// lenLocked returns how many deltas wait. It does not count a full state that is held back, so that
// the state can be completed.
func (f *DeltaFIFO[T]) lenLocked() int { return len(f.stream) + f.keyed.waiting }

func (f *DeltaFIFO[T]) emptyStreamLocked() {
	clear(f.stream) // so that it keeps no objects alive
	f.stream = f.stream[:0]
}
