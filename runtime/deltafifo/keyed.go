// SPDX-License-Identifier: Apache-2.0

package deltafifo

import (
	"iter"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

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
