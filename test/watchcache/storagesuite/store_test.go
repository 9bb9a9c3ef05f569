// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"

	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/test/internal/caches"
)

// store is a watch cache and its storage as one [storage.Interface] for pods.
//
// A write returns when the cache has it. So a read at any version sees it, as the suites expect
// from etcd.
type store struct {
	rig                                    // set once at construction
	cache   *watchcache.Cache              // set once at construction
	ended   context.Context                // set once at construction: done when the test ends
	watches sync.WaitGroup                 // the goroutines of watches
	current atomic.Pointer[transformerBox] // the transformer

	compacted atomic.Uint64 // older versions are refused
}

// usedFor is a transformer behind a pointer.
type transformerBox struct{ value.Transformer }

var (
	_ storagetesting.InterfaceWithPrefixTransformer   = (*store)(nil)
	_ storagetesting.InterfaceWithTransformerOverride = (*store)(nil)
)

// bookmarkInterval is short, because some suites wait only 3 s for a bookmark. Others want silence
// after the first events of a watch: these must arrive before the first bookmark, even on a busy
// machine.
const bookmarkInterval = 1500 * time.Millisecond

// newStore returns a store on an empty storage. It ends with the test.
func newStore(t *testing.T, r rig) *store {
	t.Helper()
	s := &store{rig: r, ended: t.Context()}
	t.Cleanup(s.watches.Wait)
	s.cache = caches.Run(t, watchcache.Config{Storage: r.storage, BookmarkInterval: bookmarkInterval})
	s.current.Store(&transformerBox{storagetesting.NewPrefixTransformer([]byte("stored:"), false)})
	return s
}

func (s *store) transformer() value.Transformer { return s.current.Load().Transformer }

// UpdatePrefixTransformer replaces the transformer. The returned function restores it.
func (s *store) UpdatePrefixTransformer(modify storagetesting.PrefixTransformerModifier) func() {
	old := s.current.Load()
	c := *old.Transformer.(*storagetesting.PrefixTransformer)
	s.current.Store(&transformerBox{modify(&c)})
	return func() { s.current.Store(old) }
}

// UpdateTransformer replaces the transformer. The returned function restores it.
func (s *store) UpdateTransformer(modify storagetesting.TransformerModifier) func() {
	old := s.current.Load()
	s.current.Store(&transformerBox{modify(old.Transformer)})
	return func() { s.current.Store(old) }
}

// catchUp waits until the cache has the storage's version at the call.
func (s *store) catchUp(ctx context.Context) error {
	return retryTimeouts(func() error { return s.fresh(ctx, s.cache) })
}

// await waits until the cache has a version.
func (s *store) await(ctx context.Context, version uint64) error {
	return retryTimeouts(func() error { return s.cache.WaitUntilFresh(ctx, version) })
}

// retryTimeouts waits for a version without a time limit: the machine may be slow.
func retryTimeouts(wait func() error) error {
	for {
		if err := wait(); !errors.As(err, new(*watchcache.TooLargeError)) {
			return err
		}
	}
}

// prepare lets the cache catch up for a request for the newest state or for a later version.
func (s *store) prepare(ctx context.Context, newest bool, version uint64) error {
	if newest || version > s.cache.Status().Version {
		return s.catchUp(ctx)
	}
	return nil
}

// find returns the record under a key prepared by PrepareKey, or nil.
func (s *store) find(ctx context.Context, key string, newest bool, version uint64) (*watchcache.Object, error) {
	if err := s.prepare(ctx, newest, version); err != nil {
		return nil, err
	}
	o, err := s.cache.Get(ctx, cacheKey(key), version)
	return o, suiteError(err)
}

// suiteError returns an error of the cache in the suites' form.
func suiteError(err error) error {
	if tooLarge := (*watchcache.TooLargeError)(nil); errors.As(err, &tooLarge) {
		return storage.NewTooLargeResourceVersionError(tooLarge.Version, tooLarge.Current, 1)
	}
	return err
}

// Get implements [storage.Interface].
func (s *store) Get(ctx context.Context, key string, opts storage.GetOptions, out runtime.Object) error {
	key, err := storage.PrepareKey(resource, key, false)
	if err != nil {
		return err
	}
	version, err := s.Versioner().ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return err
	}
	o, err := s.find(ctx, key, opts.ResourceVersion == "", version)
	switch {
	case err != nil:
		return err
	case o == nil && opts.IgnoreNotFound:
		return runtime.SetZeroValue(out)
	case o == nil:
		return storage.NewKeyNotFoundError(key, 0)
	}
	return s.read(ctx, o, o.Version, out)
}

// filter returns the filter of the selected objects below a prefix, or under a key.
func filter(key string, opts storage.ListOptions) watchcache.Filter {
	f := watchcache.Filter{Labels: opts.Predicate.Label, Fields: opts.Predicate.Field}
	if opts.Recursive {
		f.Namespace = strings.TrimSuffix(strings.TrimPrefix(key, resource), "/")
	} else {
		f.Namespace, f.Name = split(key)
	}
	return f
}

// GetList implements [storage.Interface]. Unlike API servers, it heeds the limit of lists at
// version 0.
func (s *store) GetList(ctx context.Context, key string, opts storage.ListOptions, out runtime.Object) error {
	key, err := storage.PrepareKey(resource, key, opts.Recursive)
	if err != nil {
		return err
	}
	exact, from, err := storage.ValidateListOptions(key, s.Versioner(), opts)
	if err != nil {
		return err
	}
	o := watchcache.ListOptions{
		Filter: filter(key, opts),
		Exact:  uint64(exact),
		Limit:  int(opts.Predicate.Limit),
		From:   strings.TrimPrefix(from, resource),
	}
	newest := exact == 0 && (from != "" || opts.ResourceVersion == "")
	if exact == 0 && !newest {
		if o.NotOlderThan, err = s.Versioner().ParseResourceVersion(opts.ResourceVersion); err != nil {
			return err
		}
	}
	if err := s.prepare(ctx, newest, max(o.Exact, o.NotOlderThan)); err != nil {
		return err
	}
	if exact != 0 && o.Exact < s.compacted.Load() {
		return expired(key, from)
	}
	list, err := s.cache.List(ctx, o)
	if errors.As(err, new(*watchcache.ExpiredError)) {
		return expired(key, from)
	} else if err != nil {
		return suiteError(err)
	}
	return s.fill(ctx, out.(*example.PodList), list, key)
}

// fill sets pods to the pods of a list below a prefix. It stops at the first unreadable one.
func (s *store) fill(ctx context.Context, pods *example.PodList, list *watchcache.List, prefix string) (err error) {
	pods.Items = make([]example.Pod, 0, len(list.Objects))
	for _, o := range list.Objects {
		var pod example.Pod
		if err := s.read(ctx, o, o.Version, &pod); err != nil {
			return err
		}
		pods.Items = append(pods.Items, pod)
	}
	var next string
	var remaining *int64
	if list.Continue != "" {
		if next, err = storage.EncodeContinue(resource+list.Continue, prefix, int64(list.Version)); err != nil {
			return err
		}
		if n := int64(list.Remaining); n >= 0 {
			remaining = &n
		}
	}
	return s.Versioner().UpdateList(pods, list.Version, next, remaining)
}

// expired returns the error of a list for an expired version. If the list continues from a key, the
// error has a token for the newest state.
func expired(prefix, from string) error {
	if from == "" {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	token, err := storage.EncodeContinue(from, prefix, -1)
	if err != nil {
		return err
	}
	status := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result.")
	status.ErrStatus.Continue = token
	return status
}

// Versioner implements [storage.Interface].
func (s *store) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

// Stats implements [storage.Interface], except for the size of objects.
func (s *store) Stats(context.Context) (storage.Stats, error) {
	return storage.Stats{ObjectCount: int64(s.cache.Status().Objects)}, nil
}

// ReadinessCheck implements [storage.Interface].
func (s *store) ReadinessCheck() error {
	if !s.cache.Status().Ready {
		return storage.ErrStorageNotReady
	}
	return nil
}

// RequestWatchProgress implements [storage.Interface].
func (s *store) RequestWatchProgress(ctx context.Context) error { return s.catchUp(ctx) }

// GetCurrentResourceVersion implements [storage.Interface].
func (s *store) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	err := s.catchUp(ctx)
	return s.cache.Status().Version, err
}

// EnableResourceSizeEstimation implements [storage.Interface]. A store estimates no sizes.
func (s *store) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements [storage.Interface].
func (s *store) CompactRevision() int64 { return int64(s.compacted.Load()) }

// compactTo compacts the storage up to a version, for the suites. Like API servers, which record
// their compactions, it also increments the version. The cache keeps its history, so the store
// itself refuses older versions.
func (s *store) compactTo(ctx context.Context, t *testing.T, version string) {
	t.Helper()
	number, err := s.Versioner().ParseResourceVersion(version)
	if err == nil {
		err = s.compact(ctx, number)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.compacted.Store(number)
	s.increaseVersion(ctx, t)
}

// increaseVersion increments the storage's version, for the suites, without a write of a pod.
func (s *store) increaseVersion(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	version, err := s.increase(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return version
}
