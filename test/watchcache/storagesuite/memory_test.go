// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// shared is a storage in memory that shares its versions with other resources, as prefixes of an
// etcd do. It tells of the others' changes when it is asked for its progress, and with its own next
// change.
type shared struct {
	*memory.Storage
	*others
}

// others are the changes of other resources.
type others struct {
	mu     sync.Mutex
	latest uint64 // version of the last one
	asked  uint64 // version that the progress was asked for; up to it, the storage tells
}

func newMemory(*testing.T) rig {
	s := shared{memory.New(nodeName), &others{}}
	return rig{
		storage:  s,
		withTTL:  func(ttl time.Duration) writer { return shared{s.WithTTL(ttl), s.others} },
		fresh:    s.fresh,
		increase: s.increase,
		compact: func(_ context.Context, version uint64) error {
			s.Compact(version)
			return nil
		},
	}
}

// fresh waits until a cache has what the storage, and the others, had at the call.
func (s shared) fresh(ctx context.Context, cache *watchcache.Cache) error {
	s.mu.Lock()
	s.asked = max(s.latest, s.Version())
	version := s.asked
	s.mu.Unlock()
	return cache.WaitUntilFresh(ctx, version)
}

// increase changes another resource.
func (s shared) increase(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, s.Version()) + 1
	return int64(s.latest), nil
}

// RequestProgress tells of the others, up to the version that was asked for.
func (s shared) RequestProgress(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tellLocked(s.asked)
}

// tellLocked tells of the others up to a version.
func (s shared) tellLocked(version uint64) error {
	if version <= s.Version() {
		return nil
	}
	return s.Apply(watchcache.Event{Type: watch.Bookmark, Version: version})
}

// change writes after the others.
func (s shared) change(write func() (*watchcache.Object, error)) (*watchcache.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tellLocked(s.latest); err != nil {
		return nil, err
	}
	return write()
}

func (s shared) Create(ctx context.Context, data []byte) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Create(ctx, data) })
}

func (s shared) Update(ctx context.Context, data []byte) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Update(ctx, data) })
}

func (s shared) Delete(ctx context.Context, key string, p watchcache.Preconditions) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Delete(ctx, key, p) })
}
