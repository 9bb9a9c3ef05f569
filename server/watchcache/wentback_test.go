// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// versionedStorage is a scripted storage that reports its version.
type versionedStorage struct {
	scriptedStorage
	newest func() (uint64, error)
}

func (s *versionedStorage) Newest(context.Context) (uint64, error) { return s.newest() }

// TestStorageWentBack shows that after each sign of a restored backup the cache replaces its
// objects by the next list, even if the versions look unchanged.
func TestStorageWentBack(t *testing.T) {
	refused := errors.New("the connection was reset")
	wait := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, test := range map[string]struct {
		watch  func(emit func(watchcache.Event) error) error // of the first watch
		newest uint64
	}{
		"a bookmark": {func(emit func(watchcache.Event) error) error {
			return emit(watchcache.Event{Type: watch.Bookmark, Version: 5})
		}, 10},
		"an event": {func(emit func(watchcache.Event) error) error {
			return emit(watchcache.Event{Type: watch.Added, Object: obj("b", 5), Version: 5})
		}, 10},
		"silence":   {func(func(watchcache.Event) error) error { return nil }, 5},
		"a failure": {func(func(watchcache.Event) error) error { return refused }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := obj("a", 3), obj("a", 3)
			after.Bytes = []byte(`{"restored":true}`)
			lists, watches := 0, 0
			storage := &versionedStorage{newest: func() (uint64, error) { return test.newest, nil }}
			storage.list = func() ([]*watchcache.Object, uint64, error) {
				switch lists++; lists {
				case 1:
					return []*watchcache.Object{before, obj("gone", 4)}, 10, nil
				case 2:
					return nil, 0, refused // the storage isn't up yet
				}
				return []*watchcache.Object{after}, 20, nil
			}
			storage.watch = func(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
				if watches++; watches == 1 {
					time.Sleep(time.Minute)
					return test.watch(emit)
				}
				return wait(ctx)
			}
			inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, r *rig) {
				w := r.watch(watchcache.WatchOptions{})
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := r.cache.Status(); s.Version != 10 || time.Since(s.LastEvent) < time.Minute {
					t.Errorf("before the new list: Status() = %+v, want the old version and event", s)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if _, err := r.next(w); fmt.Sprint(err) != (&watchcache.ExpiredError{Version: 10, Oldest: 20}).Error() {
					t.Errorf("the watch ended with %v, want an ExpiredError", err)
				}
				l, err := r.cache.List(t.Context(), watchcache.ListOptions{})
				if err != nil || l.Version != 20 || len(l.Objects) != 1 || l.Objects[0] != after {
					t.Errorf("List() = %q, %v; want the restored object at version 20", objectStrings(l.Objects), err)
				}
				if s := r.cache.Status(); s.Err != nil || s.Relists != 1 || watches != 2 {
					t.Errorf("after %d watches: Status() = %+v, want 2 watches, 1 relist, no error", watches, s)
				}
			})
		})
	}
}

// TestNewestFailureDoesNotStopWatch shows that the cache watches although Newest fails, and that
// its status has the error until the next event.
func TestNewestFailureDoesNotStopWatch(t *testing.T) {
	refused := errors.New("refused")
	var mu sync.Mutex // guards calls
	var calls []string
	call := func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, name)
		return len(calls)
	}
	storage := &versionedStorage{newest: func() (uint64, error) {
		call("newest")
		return 0, refused
	}}
	storage.list = func() ([]*watchcache.Object, uint64, error) {
		call("list")
		return nil, 10, nil
	}
	storage.watch = func(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
		n := call("watch")
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return ctx.Err()
		}
		if n == 2 {
			return nil
		}
		return emit(watchcache.Event{Type: watch.Added, Object: obj("a", 11), Version: 11})
	}
	inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, r *rig) {
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if s := r.cache.Status(); !errors.Is(s.Err, refused) || s.Failures != 1 {
			t.Errorf("Status() = %+v, want one failure with %v", s, refused)
		}
		mu.Lock()
		if want := []string{"list", "watch", "newest", "watch"}; !slices.Equal(calls, want) {
			t.Errorf("the storage got the calls %q, want %q", calls, want)
		}
		mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if l, err := r.cache.List(t.Context(), watchcache.ListOptions{}); err != nil || len(l.Objects) != 1 {
			t.Errorf("List() = %+v, %v; want one object", l, err)
		}
	})
}
