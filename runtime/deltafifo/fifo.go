// SPDX-License-Identifier: Apache-2.0

// Package deltafifo hands a stream of changes from the goroutine that reads it to the one that applies it.
//
// # Order and blocking
//
// One goroutine at a time fills a DeltaFIFO (a reflector does; the methods are its Sink, and Sync), and it is emptied
// either by PopBatch or by Pop. PopBatch takes a prefix of the stream as it is. Pop takes one key with everything that
// waits for it; keys come in the order of their oldest delta, the deltas of a key in the order of the stream; there is
// no order between keys that interleave.
//
// A full queue blocks the goroutine that fills it, until something was taken or the queue is closed. An empty one blocks
// Pop and PopBatch. Less formally: the server is read as fast as its changes are applied, and no faster.
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
	// ErrClosed is returned by everything that would add to a closed queue, and by PopBatch and Pop once a closed queue
	// is empty.
	ErrClosed = errors.New("the queue is closed")
	// ErrMixed is returned by Pop on a queue that PopBatch took from before, and the other way round.
	ErrMixed = errors.New("a queue is emptied by Pop or by PopBatch, not by both")
)

// DefaultCapacity is the capacity of a queue whose Options name none.
const DefaultCapacity = 1024

// Options are what a DeltaFIFO may be told. The zero value is usable.
type Options[T object.Object] struct {
	// Capacity is how many deltas may wait before the goroutine that adds more is blocked. 0 and less mean
	// DefaultCapacity. With Pop, a full state goes beyond it: it is held back until it is complete.
	Capacity int
	// Known returns the objects that the consumer has, for Pop to find out which of them a full state lacks. It is called
	// while Pop holds the queue's lock, and must not use the queue. nil means that only objects that still wait in the
	// queue can vanish.
	Known func() iter.Seq[T]
}

// DeltaFIFO is a queue of deltas that keeps the stream's order, drops nothing, and blocks whoever fills it too fast.
type DeltaFIFO[T object.Object] struct {
	options Options[T] // set once at construction

	consuming chan struct{} // holds a token while a Pop processes; taken before mu

	mu      sync.Mutex // mu guards what follows
	stream  []Delta[T] // what nobody has taken yet
	keyed   keyed[T]   // what Pop took from stream and has not handed over
	mode    mode
	closed  bool
	synced  bool
	filled  signal // there is something to take, or nothing will come
	drained signal // there is room to add, or none will be needed
}

// signal is what goroutines wait for; mu guards it. wake wakes one of them, and whoever stops waiting, for whatever reason,
// wakes the next. So a wake reaches all of them or one that finds nothing and waits on, as all behind it would. Nothing is
// allocated per wait, because an event that comes alone is a wait.
type signal struct {
	token   chan struct{} // of capacity 1, set once at construction; who takes the token is awake
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

// Add says that obj appeared. It blocks while the queue is full and returns ErrClosed once it is closed; so do all the
// methods that add.
func (f *DeltaFIFO[T]) Add(obj T) error { return f.push(objectDelta(Added, obj)) }

// Update says that obj changed.
func (f *DeltaFIFO[T]) Update(obj T) error { return f.push(objectDelta(Updated, obj)) }

// Delete says that obj disappeared; within a full state, that it is not part of it any more.
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.push(objectDelta(Deleted, obj)) }

// Sync says that obj should be looked at again. Pop leaves it out if something newer waits for the same key.
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

// PopBatch blocks until something waits, then appends all of it to dst, which may be nil, and returns the extended slice:
// at most Capacity deltas, in the stream's order. It returns dst as it was with context.Cause(ctx) when ctx is done
// (whatever waits), with ErrClosed when the queue is closed and empty, and with ErrMixed.
func (f *DeltaFIFO[T]) PopBatch(ctx context.Context, dst []Delta[T]) ([]Delta[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(ctx, byBatch, func() bool { return len(f.stream) > 0 }); err != nil {
		return dst, err
	}
	for i := range f.stream {
		f.synced = f.synced || f.stream[i].Type == ReplaceEnded
	}
	dst = append(dst, f.stream...)
	f.emptyStreamLocked()
	wake(&f.drained)
	return dst, nil
}

// Len returns how many deltas wait.
func (f *DeltaFIFO[T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lenLocked()
}

// HasSynced says whether the first full state was taken by PopBatch, or all of it was processed by Pop. Once true, it
// stays true.
func (f *DeltaFIFO[T]) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.synced
}

// Close ends the queue: whoever waits to add gets ErrClosed, and so does whoever waits to take, once what is left has
// been taken. Closing again does nothing.
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
	for !f.closed && f.lenLocked() >= f.options.Capacity {
		f.sleepLocked(context.Background(), &f.drained)
	}
	wake(&f.drained) // the next one
	if f.closed {
		return ErrClosed
	}
	f.stream = append(f.stream, d)
	wake(&f.filled)
	return nil
}

// waitLocked waits until ready, which is called with mu held, and settles who empties the queue.
func (f *DeltaFIFO[T]) waitLocked(ctx context.Context, m mode, ready func() bool) error {
	if f.mode != unknown && f.mode != m {
		return ErrMixed
	}
	f.mode = m
	defer wake(&f.filled) // the next one
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

// sleepLocked gives mu up until it is woken, or ctx is done. It may also return for no reason.
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

// lenLocked counts what waits; it leaves out a full state that is held back, so that it can be completed.
func (f *DeltaFIFO[T]) lenLocked() int { return len(f.stream) + f.keyed.waiting }

func (f *DeltaFIFO[T]) emptyStreamLocked() {
	clear(f.stream) // not to keep objects alive
	f.stream = f.stream[:0]
}
