// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrNotOwned is shard.ErrNotOwned. It is the cancellation cause of reconciles whose bucket goes to
// another process.
var ErrNotOwned = errors.New("this process does not own the object's part of the ring")

// Hub joins a ring with the informers and controllers of its process. The ring says which buckets
// are wanted and which are held. Any goroutine may call its methods; they wait for nothing.
type Hub struct {
	Partition                 // set once at construction
	epochs    []atomic.Uint64 // by bucket; 0 unless it is held; changed with mu

	mu        sync.Mutex // mu guards the fields below
	wanted    Set
	share     int
	informers map[*Informer]struct{}
	workers   map[*worker]struct{}
	changed   chan struct{} // closed by the next change; nil until asked for
}

// NewHub returns a hub without wanted or held buckets.
func NewHub(p Partition) *Hub {
	return &Hub{Partition: p, epochs: make([]atomic.Uint64, p.Buckets), informers: map[*Informer]struct{}{}, workers: map[*worker]struct{}{}}
}

// Changed returns a channel that is closed by the next change for the ring or an informer.
// Readers get the channel first, then look.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

func (h *Hub) changedLocked() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Informer is a running informer of the wanted buckets.
type Informer struct {
	hub  *Hub
	name string
	mode func() string

	loaded Set // Hub.mu guards it
}

// Join adds a running informer. mode says for people how it reads its part: "namespaces",
// "server" or "client". It is called without a lock.
func (h *Hub) Join(name string, mode func() string) *Informer {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := &Informer{hub: h, name: name, mode: mode}
	h.informers[i] = struct{}{}
	h.changedLocked()
	return i
}

// SetLoaded sets the buckets that the informer has completely, and keeps up with.
func (i *Informer) SetLoaded(loaded Set) {
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	if i.loaded != loaded {
		i.loaded = loaded
		i.hub.changedLocked()
	}
}

// Leave removes the informer, which has ended.
func (i *Informer) Leave() {
	i.hub.mu.Lock()
	defer i.hub.mu.Unlock()
	delete(i.hub.informers, i)
	i.hub.changedLocked()
}

// Wanted returns the buckets for informers to read. They drop others.
func (h *Hub) Wanted() Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wanted
}

// SetWanted sets the buckets for informers to read. It is for the ring.
func (h *Hub) SetWanted(wanted Set) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.wanted != wanted {
		h.wanted = wanted
		h.changedLocked()
	}
}

// Share returns the number of this process's buckets when none moves any more, or 0 if it is
// unknown. While it joins, it has less at first.
func (h *Hub) Share() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.share
}

// SetShare is for the ring, before SetWanted.
func (h *Hub) SetShare(buckets int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.share = buckets
}

// Loaded returns the wanted buckets that every informer has: all of them without informers.
func (h *Hub) Loaded() Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return SetOf(h.Buckets, func(b int) bool {
		if !h.wanted.Has(b) {
			return false
		}
		for i := range h.informers {
			if !i.loaded.Has(b) {
				return false
			}
		}
		return true
	})
}

// Mode is how an informer reads its part.
type Mode struct {
	// Informer is the name of the informer.
	Informer string `json:"informer"`
	// Mode is "namespaces", "server" or "client".
	Mode string `json:"mode"`
}

// Modes returns the modes of all informers, by name.
func (h *Hub) Modes() (modes []Mode) {
	h.mu.Lock()
	var all []*Informer
	for i := range h.informers {
		all = append(all, i)
	}
	h.mu.Unlock()
	for _, i := range all {
		modes = append(modes, Mode{i.name, i.mode()})
	}
	slices.SortFunc(modes, func(a, b Mode) int { return strings.Compare(a.Informer, b.Informer) })
	return modes
}

// Worker is a controller in a ring. The ring's goroutine calls its methods, one at
// a time; AddWorker also calls Grant, and the ring's Status Queued. They must not wait.
type Worker interface {
	// Grant queues all keys of newly granted buckets.
	Grant(Set)
	// Revoke drops waiting keys of buckets. No reconcile of them begins any more.
	Revoke(Set)
	// Running returns the number of running reconciles of a bucket.
	Running(bucket int) int
	// Cancel ends the contexts of the reconciles of buckets.
	Cancel(Set)
	// Queued adds the number of keys in the queue to counts, by bucket.
	Queued(counts []int)
}

type worker struct{ Worker }

// AddWorker adds a worker, and grants it the held buckets. remove removes it, after its
// last reconcile has ended.
func (h *Hub) AddWorker(w Worker) (remove func()) {
	added := &worker{w}
	h.mu.Lock()
	h.workers[added] = struct{}{}
	held := h.Held()
	h.mu.Unlock()
	if !held.IsEmpty() {
		w.Grant(held)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.workers, added)
		h.changedLocked()
	}
}

// Done tells the ring about the end of a reconcile whose bucket was revoked.
func (h *Hub) Done() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changedLocked()
}

// Workers returns the workers, in no order.
func (h *Hub) Workers() (all []Worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.workers {
		all = append(all, w.Worker)
	}
	return all
}

// Epoch returns the epoch at which a bucket is held, 0 if it is not.
func (h *Hub) Epoch(bucket int) uint64 { return h.epochs[bucket].Load() }

// Held returns the buckets on which reconciles may begin.
func (h *Hub) Held() Set {
	return SetOf(h.Buckets, func(b int) bool { return h.Epoch(b) > 0 })
}

// Grant makes buckets held, each at its epoch, and then tells the workers. It is for the ring.
func (h *Hub) Grant(epochs map[int]uint64) {
	h.setEpochs(SetOf(h.Buckets, func(b int) bool { return epochs[b] > 0 }), epochs, Worker.Grant)
}

// Revoke ends the holding of buckets, and then tells the workers. It is for the ring.
func (h *Hub) Revoke(buckets Set) { h.setEpochs(buckets, nil, Worker.Revoke) }

func (h *Hub) setEpochs(buckets Set, epochs map[int]uint64, tell func(Worker, Set)) {
	if buckets.IsEmpty() {
		return
	}
	h.mu.Lock()
	for b := range buckets.All() {
		h.epochs[b].Store(epochs[b])
	}
	h.changedLocked()
	h.mu.Unlock()
	for _, w := range h.Workers() {
		tell(w, buckets)
	}
}

// Cancel tells the workers to end the reconciles of buckets. It is for the ring.
func (h *Hub) Cancel(buckets Set) {
	for _, w := range h.Workers() {
		w.Cancel(buckets)
	}
}
