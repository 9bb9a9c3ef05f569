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

// joinWindow is how long new watches may join a state that is being sent to others.
const joinWindow = time.Second

// states are the initial states being sent to watches. Watches that begin together share one, which
// is encoded once:
//
//	Cache.List ─▶ state: chunk │ chunk │ chunk │ chunk     version 41
//	               watch ─────────────▲      ▲
//	               watch ────────────────────┘             then the changes since 41, from the log
//
// The watch for the changes is opened before the state is sent; until then, at most one batch of it
// is read.
//
// A watch that joins an older state gets the changes since then, and only after them the bookmark
// that ends the initial events: its client sees all of this as the newest state.
type states struct {
	bytes atomic.Int64 // of kept encodings

	mu    sync.Mutex // mu guards what follows
	byKey map[stateKey]*state
}

type stateKey struct {
	cache                     *watchcache.Cache
	namespace, labels, fields string
	shard                     string
	format                    watchcache.Format
}

type state struct {
	key          stateKey
	cacheVersion uint64 // the cache's version when the state was made, or a lower one
	created      time.Time
	members      atomic.Int64 // watches being sent the state

	once    sync.Once // for load, which sets the fields below
	err     error
	version uint64
	size    int // of the objects
	chunks  []chunk
}

// chunk is the part of a state sent in one write.
type chunk struct {
	objects []*watchcache.Object

	mu      sync.Mutex // mu guards what follows
	encoded []byte
}

// join returns the initial state for a watch, which the caller must hand to leave. The state is as
// new as the cache, at once or with the changes since then.
func (s *states) join(key stateKey, filter watchcache.Filter) (*state, error) {
	st := s.enter(key)
	st.once.Do(func() { st.load(filter) })
	if st.err != nil {
		s.leave(st)
		return nil, st.err
	}
	return st, nil
}

// enter returns a state that is new enough, and counts the caller as a member.
func (s *states) enter(key stateKey) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := key.cache.Status() // under the lock: no later caller sees an older version
	return s.enterLocked(key, status.Version, status.Oldest)
}

// enterLocked implements enter. newest is the cache's version; oldest is the oldest version since
// which it knows the changes. A state newer than the cache belongs to a history the storage has
// abandoned.
func (s *states) enterLocked(key stateKey, newest, oldest uint64) *state {
	st := s.byKey[key]
	if st == nil || st.cacheVersion != newest && time.Since(st.created) > joinWindow || st.cacheVersion < oldest || st.cacheVersion > newest {
		st = &state{key: key, cacheVersion: newest, created: time.Now()}
		if s.byKey == nil {
			s.byKey = map[stateKey]*state{}
		}
		s.byKey[key] = st
	}
	st.members.Add(1)
	return st
}

func (s *states) leave(st *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.members.Add(-1) > 0 {
		return
	}
	if s.byKey[st.key] == st {
		delete(s.byKey, st.key)
	}
	for i := range st.chunks {
		s.bytes.Add(-int64(cap(st.chunks[i].encoded)))
	}
}

// load reads the objects. It doesn't depend on the request that comes first.
func (st *state) load(filter watchcache.Filter) {
	list, err := st.key.cache.List(context.Background(), watchcache.ListOptions{Filter: filter})
	if err != nil {
		st.err = err
		return
	}
	st.version = list.Version
	objects, from, size := list.Objects, 0, 0
	for i, o := range objects {
		st.size += len(o.Bytes)
		if size += len(o.Bytes); size >= writeSize || i == len(objects)-1 {
			st.chunks = append(st.chunks, chunk{objects: objects[from : i+1]})
			from, size = i+1, 0
		}
	}
}

// bytes returns the chunk as events. limit bounds all kept encodings.
func (c *chunk) bytes(s *states, st *state, limit int64) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.encoded != nil {
		return c.encoded, nil
	}
	size := 0
	for _, o := range c.objects {
		size += len(o.Bytes) + frameOverhead
	}
	data := make([]byte, 0, size)
	for _, o := range c.objects {
		var err error
		if data, err = st.key.format.AppendEvent(data, watchcache.Event{Type: watch.Added, Object: o, Version: o.Version}); err != nil {
			return nil, err
		}
	}
	if st.members.Load() > 1 && s.bytes.Load()+int64(cap(data)) <= limit {
		c.encoded = data
		s.bytes.Add(int64(cap(data)))
	}
	return data, nil
}

const frameOverhead = 64
