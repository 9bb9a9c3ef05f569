// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// joinTime is how long a state is handed to watches that begin, while others are being sent it.
const joinTime = time.Second

// states are the states that watches are being sent before their changes. Watches that begin
// together are sent the same one, which is encoded once:
//
//	Cache.List ─▶ state: chunk │ chunk │ chunk │ chunk     version 41
//	               watch ─────────────▲      ▲
//	               watch ────────────────────┘             then the changes since 41, from the log
//
// The watch of the changes begins before the state is sent. Until then, one batch of it is read at
// most.
//
// A watch that joins a state which is not the newest one gets the changes since then, and only then
// the bookmark that ends the initial events: to its client, they are the newest state.
type states struct {
	bytes atomic.Int64 // of the chunks that are kept

	mu  sync.Mutex // mu guards what follows
	all map[selection]*state
}

// selection is what watches must have in common to be sent one state.
type selection struct {
	cache                     *watchcache.Cache
	namespace, labels, fields string
	shard                     string
	format                    watchcache.Format
}

// state is the objects of a selection at one version, as events.
type state struct {
	of      selection
	seen    uint64 // the cache's version when the state was made, or less
	made    time.Time
	members atomic.Int64 // watches that are being sent it

	load    sync.Once // sets what follows
	err     error
	version uint64
	size    int // of the objects
	chunks  []chunk
}

// chunk is a part of a state that is sent at once. It is encoded by the first watch that is sent
// it, and kept if there are others.
type chunk struct {
	objects []*watchcache.Object

	mu      sync.Mutex // mu guards what follows
	encoded []byte
}

// join returns the state that a watch is to begin with, which leave must be called with. It is as
// new as the cache, or will be with the changes since then.
func (s *states) join(of selection, filter watchcache.Filter) (*state, error) {
	st := s.enter(of)
	st.load.Do(func() { st.read(filter) })
	if st.err != nil {
		s.leave(st)
		return nil, st.err
	}
	return st, nil
}

// enter returns a state that is new enough, with the caller as one of its members.
func (s *states) enter(of selection) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := of.cache.Status() // under the lock: who comes later has no older version
	return s.memberLocked(of, status.Version, status.Oldest)
}

// memberLocked is enter. now and oldest are the cache's version and the oldest one from which it
// knows the changes. A state that is newer than the cache is one of a history that the storage has
// given up.
func (s *states) memberLocked(of selection, now, oldest uint64) *state {
	st := s.all[of]
	if st == nil || st.seen != now && time.Since(st.made) > joinTime || st.seen < oldest || st.seen > now {
		st = &state{of: of, seen: now, made: time.Now()}
		if s.all == nil {
			s.all = map[selection]*state{}
		}
		s.all[of] = st
	}
	st.members.Add(1)
	return st
}

// leave ends the membership that join has begun. A state without members is forgotten.
func (s *states) leave(st *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.members.Add(-1) > 0 {
		return
	}
	if s.all[st.of] == st {
		delete(s.all, st.of)
	}
	for i := range st.chunks {
		s.bytes.Add(-int64(cap(st.chunks[i].encoded)))
	}
}

// read reads the objects. They don't depend on the request that happens to be the first.
func (st *state) read(filter watchcache.Filter) {
	list, err := st.of.cache.List(context.Background(), watchcache.ListOptions{Filter: filter})
	if err != nil {
		st.err = err
		return
	}
	st.version = list.Version
	objects, from, size := list.Objects, 0, 0
	for i, o := range objects {
		st.size += len(o.Bytes)
		if size += len(o.Bytes); size >= sentAtOnce || i == len(objects)-1 {
			st.chunks = append(st.chunks, chunk{objects: objects[from : i+1]})
			from, size = i+1, 0
		}
	}
}

// bytes returns the chunk as events of a state. most is how many bytes all states may keep.
func (c *chunk) bytes(s *states, st *state, most int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.encoded != nil {
		return c.encoded, nil
	}
	size := 0
	for _, o := range c.objects {
		size += len(o.Bytes) + frameRoom
	}
	data := make([]byte, 0, size)
	for _, o := range c.objects {
		var err error
		if data, err = st.of.format.AppendEvent(data, watchcache.Event{Type: watch.Added, Object: o, Version: o.Version}); err != nil {
			return nil, err
		}
	}
	if st.members.Load() > 1 && s.bytes.Load()+int64(cap(data)) <= most {
		c.encoded = data
		s.bytes.Add(int64(cap(data)))
	}
	return data, nil
}

// frameRoom is about how much longer than the object an event is.
const frameRoom = 64
