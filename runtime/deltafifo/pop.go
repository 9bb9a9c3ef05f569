// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"context"
	"errors"
	"iter"
	"slices"

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

// --- private from here ---

// keyed is the stream, grouped by key.
type keyed[T object.Object] struct {
	items   map[object.Key]Deltas[T]
	order   []object.Key // of items, by their oldest delta
	waiting int          // deltas in items

	replacing bool
	staged    []Delta[T] // the deltas of a full state that is not complete yet

	replaced bool                    // a full state was completed
	initial  map[object.Key]struct{} // the keys of the first one that were not processed yet
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

// sort adds the next delta of the stream to those of its key.
func (k *keyed[T]) sort(d Delta[T], known func() iter.Seq[T]) {
	switch {
	case d.Type == ReplaceStarted:
		k.replacing, k.staged = true, nil
	case d.Type == ReplaceAborted:
		k.replacing, k.staged = false, nil
	case d.Type == ReplaceEnded:
		k.replace(known)
	case d.Type == Bookmark:
	case k.replacing && d.Type != Sync:
		k.staged = append(k.staged, d)
	default:
		k.append(d)
	}
}

// replace adds the deltas of the staged full state, which is complete.
func (k *keyed[T]) replace(known func() iter.Seq[T]) {
	listed := make(map[object.Key]struct{}, len(k.staged))
	for _, d := range k.staged {
		listed[d.Key] = struct{}{}
	}
	vanished := func(obj T) {
		key := object.KeyOf(obj)
		if _, ok := listed[key]; ok {
			return
		}
		if newest, ok := k.items[key].Newest(); ok {
			obj = newest.Object
		}
		k.append(Delta[T]{Type: Deleted, Key: key, Object: obj, ResourceVersion: obj.GetResourceVersion(), FinalStateUnknown: true})
	}
	for _, key := range slices.Clone(k.order) {
		newest, _ := k.items[key].Newest()
		vanished(newest.Object)
	}
	if known != nil {
		for obj := range known() {
			vanished(obj)
		}
	}
	for _, d := range k.staged {
		k.append(d)
	}
	if !k.replaced {
		k.replaced = true
		k.initial = listed
	}
	k.replacing, k.staged = false, nil
}

func (k *keyed[T]) append(d Delta[T]) {
	deltas, waits := k.items[d.Key]
	if d.Type == Sync && waits {
		return
	}
	if newest, ok := deltas.Newest(); ok && newest.Type == Deleted && d.Type == Deleted {
		if newest.FinalStateUnknown {
			deltas[len(deltas)-1] = d
		}
		return
	}
	if k.items == nil {
		k.items = map[object.Key]Deltas[T]{}
	}
	if !waits {
		k.order = append(k.order, d.Key)
	}
	k.items[d.Key] = append(deltas, d)
	k.waiting++
}
