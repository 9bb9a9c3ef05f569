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

// sharedStorage is a storage in memory that shares its versions with other resources, like a prefix
// of an etcd. It reports their changes when asked for its progress, and with its own next change.
type sharedStorage struct {
	*memory.Storage
	*otherResources
}

// otherResources are the changes of other resources.
type otherResources struct {
	mu     sync.Mutex
	latest uint64 // version of the last change
	asked  uint64 // requested version of the progress; the storage reports up to it
}

func newMemory(*testing.T) rig {
	s := sharedStorage{memory.New(nodeName), &otherResources{}}
	return rig{
		storage:  s,
		withTTL:  func(ttl time.Duration) writer { return sharedStorage{s.WithTTL(ttl), s.otherResources} },
		fresh:    s.fresh,
		increase: s.increase,
		compact: func(_ context.Context, version uint64) error {
			s.Compact(version)
			return nil
		},
	}
}

// fresh waits until a cache has the storage's and the other resources' version at the call.
func (s sharedStorage) fresh(ctx context.Context, cache *watchcache.Cache) error {
	s.mu.Lock()
	s.asked = max(s.latest, s.Version())
	version := s.asked
	s.mu.Unlock()
	return cache.WaitUntilFresh(ctx, version)
}

// increase changes another resource.
func (s sharedStorage) increase(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, s.Version()) + 1
	return int64(s.latest), nil
}

// RequestProgress reports the other resources' changes up to the requested version.
func (s sharedStorage) RequestProgress(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tellLocked(s.asked)
}

// tellLocked reports the other resources' changes up to a version.
func (s sharedStorage) tellLocked(version uint64) error {
	if version <= s.Version() {
		return nil
	}
	return s.Apply(watchcache.Event{Type: watch.Bookmark, Version: version})
}

// change makes a write after the other resources' changes.
func (s sharedStorage) change(write func() (*watchcache.Object, error)) (*watchcache.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.tellLocked(s.latest); err != nil {
		return nil, err
	}
	return write()
}

func (s sharedStorage) Create(ctx context.Context, data []byte) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Create(ctx, data) })
}

func (s sharedStorage) Update(ctx context.Context, data []byte) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Update(ctx, data) })
}

func (s sharedStorage) Delete(ctx context.Context, key string, p watchcache.Preconditions) (*watchcache.Object, error) {
	return s.change(func() (*watchcache.Object, error) { return s.Storage.Delete(ctx, key, p) })
}
