// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"context"
	"errors"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Pop blocks until deltas of a key wait, takes all deltas of that key out of the queue, calls
// process with them, and returns its error. process is called on the caller's goroutine and must
// not be nil; no two calls overlap. It may use the queue, but not wait for it: Pop, or adding to a
// full queue, would block forever. If it returns an error, the deltas are not put back. Pop's own
// errors are context.Cause(ctx) if ctx is done, even if deltas wait; [ErrClosed] if the queue is
// closed and empty; and [ErrMixed].
//
// Pop hands over no marks, and a full state only once it is complete. For an object that the full
// state lacks, but that Known yields or that waits in the queue, it makes a Deleted with
// FinalStateUnknown, which comes before the objects of the full state. Two deletions in a row are
// merged into one, with a known final state if either has one.
func (f *DeltaFIFO[T]) Pop(ctx context.Context, process func(object.Key, Deltas[T]) error) error {
	switch {
	case ctx == nil:
		return errors.New("DeltaFIFO.Pop: the context is nil")
	case process == nil:
		return errors.New("DeltaFIFO.Pop: process is nil")
	}
	select {
	case f.consuming <- struct{}{}:
		defer func() { <-f.consuming }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	key, deltas, last, err := f.take(ctx)
	if err != nil {
		return err
	}
	// The key is the last one of the first full state: the queue has synced once it is processed,
	// even if process fails or panics.
	if last {
		defer f.setSynced()
	}
	return process(key, deltas)
}

// take returns the oldest key with its deltas. last reports whether the first full state is
// processed when they are.
func (f *DeltaFIFO[T]) take(ctx context.Context) (key object.Key, deltas Deltas[T], last bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := &f.keyed
	err = f.waitLocked(ctx, byKey, func() bool {
		for _, d := range f.stream {
			k.sort(d, f.options.Known)
		}
		f.emptyStreamLocked()
		f.synced = f.synced || k.replaced && len(k.initial) == 0
		wake(&f.drained)
		return len(k.order) > 0
	})
	if err != nil {
		return key, nil, false, err
	}
	key = k.order[0]
	k.order = k.order[1:]
	deltas = k.items[key]
	delete(k.items, key)
	k.waiting -= len(deltas)
	if _, ok := k.initial[key]; ok {
		delete(k.initial, key)
		last = len(k.initial) == 0
	}
	wake(&f.drained)
	return key, deltas, last, nil
}

func (f *DeltaFIFO[T]) setSynced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.synced = true
}
