// SPDX-License-Identifier: Apache-2.0

// Package memory is a watch cache's storage in memory: for tests, benchmarks, and objects that need
// not outlive the process.
//
// It starts no goroutines, only a timer for each object with a TTL. Only Watch blocks.
package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Storage holds JSON objects in memory, and all changes since the last compaction. Versions count
// from 1, the version of the empty storage. All methods are safe for concurrent use. [New] makes
// one.
type Storage struct {
	// set once at construction
	*contents
	ttl time.Duration // of objects stored by Create and Update; 0: for ever
}

// contents is the state shared with copies made by WithTTL.
type contents struct {
	fields []string // set once at construction

	mu        sync.Mutex // mu guards what follows
	objects   map[string]*watchcache.Object
	timers    map[string]*time.Timer // of objects with a TTL
	version   uint64
	compacted uint64             // watches from older versions expire
	events    []watchcache.Event // later than compacted
	changed   chan struct{}      // closed and replaced at each change
}

// New returns an empty storage for objects with these declared fields, such as "spec.nodeName".
func New(fields ...string) *Storage {
	return &Storage{contents: &contents{fields: fields, objects: map[string]*watchcache.Object{}, timers: map[string]*time.Timer{}, version: 1, compacted: 1, changed: make(chan struct{})}}
}

// WithTTL returns a view of the same storage whose Create and Update store objects for a limited
// time: an object is deleted after the TTL unless it has been written again. Updating it through a
// storage without a TTL keeps it. 0 means no TTL. With a negative one, Create and Update fail.
func (s *Storage) WithTTL(ttl time.Duration) *Storage { return &Storage{s.contents, ttl} }

// Create stores an object and sets its resourceVersion, and its uid if it has none. It returns the
// stored object, an error that wraps [watchcache.ErrExists] if the key is taken, or an error if
// data isn't an API object.
func (s *Storage) Create(_ context.Context, data []byte) (*watchcache.Object, error) {
	o, err := watchcache.ParseJSON(data, s.fields...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[o.Key] != nil {
		return nil, fmt.Errorf("creating %s: %w", o.Key, watchcache.ErrExists)
	}
	uid := o.UID
	if uid == "" {
		uid = "uid-" + strconv.FormatUint(s.version+1, 10)
	}
	return s.setLocked(watch.Added, o, uid)
}

// Update replaces the object with the same key. If data has a resourceVersion or a uid, the
// existing object must have the same. It returns the stored object, an error that wraps
// [watchcache.ErrNotFound] or [watchcache.ErrConflict], or an error if data isn't an API object.
func (s *Storage) Update(_ context.Context, data []byte) (*watchcache.Object, error) {
	o, err := watchcache.ParseJSON(data, s.fields...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.findLocked(o.Key, watchcache.Preconditions{UID: o.UID, Version: o.Version})
	if err != nil {
		return nil, fmt.Errorf("updating %s: %w", o.Key, err)
	}
	return s.setLocked(watch.Modified, o, old.UID)
}

// Delete removes the object under key. It returns the object's last state, or an error that wraps
// [watchcache.ErrNotFound] or [watchcache.ErrConflict].
func (s *Storage) Delete(_ context.Context, key string, p watchcache.Preconditions) (*watchcache.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.findLocked(key, p)
	if err != nil {
		return nil, fmt.Errorf("deleting %s: %w", key, err)
	}
	s.deleteLocked(old)
	return old, nil
}

// Apply stores a change made elsewhere, at its own version. Its object may have no Bytes. A
// bookmark only raises the version. Apply fails if the version isn't newer than the storage's.
func (s *Storage) Apply(e watchcache.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Version <= s.version {
		return fmt.Errorf("applying a change of version %d: the storage is at %d", e.Version, s.version)
	}
	switch e.Type {
	case watch.Bookmark:
	case watch.Deleted:
		s.dropLocked(e.Object.Key)
	default:
		s.dropLocked(e.Object.Key)
		s.objects[e.Object.Key] = e.Object
	}
	s.version = e.Version
	s.addLocked(e)
	return nil
}

// Bookmark raises the version and makes watches send a bookmark for it.
func (s *Storage) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.addLocked(watchcache.Event{Type: watch.Bookmark, Version: s.version})
}

// Compact drops the changes up to a version. Watches from older versions expire.
func (s *Storage) Compact(version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = max(s.compacted, min(version, s.version))
	s.events = slices.Clone(s.events[s.indexAfterLocked(s.compacted):])
	s.wakeLocked()
}

// Version returns the version of the newest change.
func (s *Storage) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// List returns all objects, and the storage's version.
func (s *Storage) List(context.Context) ([]*watchcache.Object, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.objects)), s.version, nil
}

// Watch calls emit with each change after a version until ctx ends. It returns a
// [watchcache.ExpiredError] as soon as the next change has been compacted.
func (s *Storage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	for {
		events, changed, err := s.changesAfter(after)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := emit(e); err != nil {
				return err
			}
			after = e.Version
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// changesAfter returns the changes after a version, and a channel closed by the next change.
func (s *Storage) changesAfter(after uint64) ([]watchcache.Event, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after < s.compacted {
		return nil, nil, &watchcache.ExpiredError{Version: after, Oldest: s.compacted}
	}
	return s.events[s.indexAfterLocked(after):], s.changed, nil
}

func (s *Storage) indexAfterLocked(version uint64) int {
	return sort.Search(len(s.events), func(i int) bool { return s.events[i].Version > version })
}

func (s *Storage) findLocked(key string, p watchcache.Preconditions) (*watchcache.Object, error) {
	o := s.objects[key]
	if o == nil {
		return nil, watchcache.ErrNotFound
	}
	return o, p.Check(o)
}

func (s *Storage) setLocked(event watch.EventType, o *watchcache.Object, uid string) (*watchcache.Object, error) {
	if s.ttl < 0 {
		return nil, fmt.Errorf("storing %s: the TTL is %v; it must not be negative", o.Key, s.ttl)
	}
	o, err := o.WithIdentity(uid, s.version+1)
	if err != nil {
		return nil, err
	}
	s.version++
	s.dropLocked(o.Key)
	s.objects[o.Key] = o
	s.addLocked(watchcache.Event{Type: event, Object: o, Version: s.version})
	if s.ttl > 0 {
		// not o: Go may keep a stopped timer, and the values its function captures, for a while
		key, version := o.Key, o.Version
		s.timers[key] = time.AfterFunc(s.ttl, func() { s.expire(key, version) })
	}
	return o, nil
}

// expire deletes an expired object, unless it was replaced while its timer fired.
func (s *contents) expire(key string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[key]; o != nil && o.Version == version {
		s.deleteLocked(o)
	}
}

func (s *contents) deleteLocked(o *watchcache.Object) {
	s.dropLocked(o.Key)
	s.version++
	s.addLocked(watchcache.Event{Type: watch.Deleted, Object: o, Version: s.version})
}

func (s *contents) dropLocked(key string) {
	delete(s.objects, key)
	if timer := s.timers[key]; timer != nil {
		timer.Stop()
		delete(s.timers, key)
	}
}

func (s *contents) addLocked(e watchcache.Event) {
	s.events = append(s.events, e)
	s.wakeLocked()
}

func (s *contents) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}
