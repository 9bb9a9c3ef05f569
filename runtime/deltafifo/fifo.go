// SPDX-License-Identifier: Apache-2.0

// Package deltafifo hands a stream of changes from the goroutine that reads it to the one that
// applies it.
//
// # Order and blocking
//
// One goroutine at a time fills a DeltaFIFO, usually a reflector: a DeltaFIFO is a reflector.Sink,
// with Sync and PushBatch in addition. It is emptied either by PopBatch or by Pop. PopBatch takes a
// prefix of the stream, unchanged. Pop takes one key with everything that waits for it: keys come
// in the order of their oldest delta, the deltas of a key in the order of the stream. With Pop, the
// order of deltas of different keys is lost.
//
// A full queue blocks the goroutine that fills it until something is taken or the queue is closed.
// An empty one blocks Pop and PopBatch. Less formally: the server is read as fast as its changes
// are applied, and no faster.
//
// # Goroutines
//
// A DeltaFIFO starts none, and its methods may be called by any. Known is called by the goroutine
// that is in Pop, with the queue's lock held; process is called without it.
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
	// ErrClosed is returned by everything that would add to a closed queue, and by PopBatch and Pop
	// once a closed queue is empty.
	ErrClosed = errors.New("the queue is closed")
	// ErrMixed is returned by Pop after PopBatch was called on the same queue, and by PopBatch
	// after Pop.
	ErrMixed = errors.New("a queue is emptied by Pop or by PopBatch, not by both")
)

// DefaultCapacity is the capacity of a queue whose Options name none.
const DefaultCapacity = 1024

// Options configure a DeltaFIFO. The zero value is usable.
type Options[T object.Object] struct {
	// Capacity is how many deltas may wait before the goroutine that adds more is blocked. Values
	// below 1 mean DefaultCapacity. With Pop, a full state does not count until it is complete, and
	// may exceed Capacity then.
	Capacity int
	// Known returns the objects that the consumer has. Pop reports those that a full state lacks as
	// Deleted. It is called with the queue's lock held and must not use the queue. If it is nil,
	// only objects that still wait in the queue are found to be missing.
	Known func() iter.Seq[T]
}

// DeltaFIFO is a queue of deltas that keeps the stream's order, drops nothing, and blocks whoever
// fills it too fast.
type DeltaFIFO[T object.Object] struct {
	options Options[T] // set once at construction

	consuming chan struct{} // holds a token while Pop runs process; taken before mu

	mu      sync.Mutex // mu guards what follows
	stream  []Delta[T] // what nobody has taken yet
	keyed   keyed[T]   // what Pop has moved out of stream and not handed over yet
	mode    mode
	closed  bool
	synced  bool
	filled  signal // there is something to take, or nothing will come
	drained signal // there is room to add, or none will be needed
}

// signal is what goroutines wait for; mu guards it. wake wakes one of them, and each that stops
// waiting, for whatever reason, wakes the next. So a wake reaches all of them, or one that finds
// nothing and waits again, as those behind it would. Waiting does not allocate, because every event
// that comes alone is waited for.
type signal struct {
	// of capacity 1, set once at construction; the goroutine that takes the token is awake
	token   chan struct{}
	waiting int
}

func newSignal() signal { return signal{token: make(chan struct{}, 1)} }

// mode is who empties a queue.
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

// Add says that obj appeared. Like every method that adds, it blocks while the queue is full, and
// returns ErrClosed once the queue is closed.
func (f *DeltaFIFO[T]) Add(obj T) error { return f.push(objectDelta(Added, obj)) }

// Update says that obj changed.
func (f *DeltaFIFO[T]) Update(obj T) error { return f.push(objectDelta(Modified, obj)) }

// Delete says that obj disappeared; within a full state, that obj is not part of it any more.
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.push(objectDelta(Deleted, obj)) }

// Sync says that obj should be looked at again. Pop leaves it out if something newer waits for the
// same key.
func (f *DeltaFIFO[T]) Sync(obj T) error { return f.push(objectDelta(Sync, obj)) }

// BeginReplace begins a full state.
func (f *DeltaFIFO[T]) BeginReplace() error { return f.push(Delta[T]{Type: ReplaceStarted}) }

// Replace adds obj to the full state.
func (f *DeltaFIFO[T]) Replace(obj T) error { return f.push(objectDelta(Replaced, obj)) }

// EndReplace completes the full state, which stands at resourceVersion.
func (f *DeltaFIFO[T]) EndReplace(resourceVersion string) error {
	return f.push(Delta[T]{Type: ReplaceEnded, ResourceVersion: resourceVersion})
}

// AbortReplace gives the full state up.
func (f *DeltaFIFO[T]) AbortReplace() error { return f.push(Delta[T]{Type: ReplaceAborted}) }

// Bookmark says that the stream has come to resourceVersion.
func (f *DeltaFIFO[T]) Bookmark(resourceVersion string) error {
	return f.push(Delta[T]{Type: Bookmark, ResourceVersion: resourceVersion})
}

// PushBatch adds deltas, as the methods for each of them do, with one lock for as many as there is
// room for. If it returns ErrClosed, those before were added. The slice is not kept.
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

// PopBatch blocks until something waits, then appends all of it to dst, which may be nil, and
// returns the extended slice: at most Capacity deltas, in the stream's order. With an error it
// returns dst unchanged. The error is context.Cause(ctx) when ctx is done, even if something waits;
// ErrClosed when the queue is closed and empty; or ErrMixed.
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
		f.stream = nil // what follows takes less room than a full state
	} else {
		f.emptyStreamLocked()
	}
	wake(&f.drained)
	return dst, nil
}

// Len returns how many deltas wait, without those of a full state that Pop holds back until it is
// complete.
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

// Close closes the queue. Goroutines that are blocked because it is full get ErrClosed; PopBatch
// and Pop return what is left and then ErrClosed. Closing again does nothing.
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

// roomLocked waits until there is room, and says how much.
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

// waitLocked waits until ready, which is called with mu held, returns true. It also fixes the
// queue's mode.
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

// sleepLocked releases mu until it is woken or ctx is done. It may also return without a reason.
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

// wake wakes one of those that wait.
func wake(s *signal) {
	if s.waiting == 0 {
		return
	}
	select {
	case s.token <- struct{}{}:
	default: // somebody is being woken
	}
}

// lenLocked counts what waits; it leaves out a full state that is held back, so that it can be
// completed.
func (f *DeltaFIFO[T]) lenLocked() int { return len(f.stream) + f.keyed.waiting }

func (f *DeltaFIFO[T]) emptyStreamLocked() {
	clear(f.stream) // so that it keeps no objects alive
	f.stream = f.stream[:0]
}
