// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// scriptedStorage is a storage with a test's functions. If watch is nil, its watches are silent.
type scriptedStorage struct {
	list  func() ([]*watchcache.Object, uint64, error)
	watch func(ctx context.Context, after uint64, emit func(watchcache.Event) error) error
}

func (s *scriptedStorage) List(context.Context) ([]*watchcache.Object, uint64, error) {
	return s.list()
}

func (s *scriptedStorage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	if s.watch != nil {
		return s.watch(ctx, after, emit)
	}
	<-ctx.Done()
	return ctx.Err()
}

// expiringStorage is a storage whose watches expire on demand.
type expiringStorage struct {
	objects []*watchcache.Object
	version uint64
	expire  chan struct{} // made in the test's bubble
}

func (s *expiringStorage) List(context.Context) ([]*watchcache.Object, uint64, error) {
	if s.expire == nil {
		s.expire = make(chan struct{})
	}
	return s.objects, s.version, nil
}

func (s *expiringStorage) Watch(ctx context.Context, after uint64, _ func(watchcache.Event) error) error {
	select {
	case <-s.expire:
		return fmt.Errorf("refused: %w", &watchcache.ExpiredError{Version: after, Oldest: after + 1})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// relist makes the cache list these objects at this version.
func (s *expiringStorage) relist(objects []*watchcache.Object, version uint64) {
	s.objects, s.version = objects, version
	s.expire <- struct{}{}
	time.Sleep(time.Second)
}

// obj returns an object with the given uid, or "u".
func obj(key string, version uint64, uid ...string) *watchcache.Object {
	return &watchcache.Object{
		Key: key, Version: version, UID: fmt.Sprint(append([]string{"u"}, uid...)),
		Labels: watchcache.PairsOf(map[string]string{"odd": fmt.Sprint(version % 2)}),
		Bytes:  fmt.Appendf(nil, `{"metadata":{"name":%q,"resourceVersion":"%d"}}`, key, version),
	}
}

// TestRelist shows the events of a watch after the cache's version has expired in the storage.
func TestRelist(t *testing.T) {
	for name, test := range map[string]struct {
		objects []*watchcache.Object // after the relist; before, a@3, b@5 and c@7 at version 10
		version uint64
		want    []string // events of a watch from version 10
		err     error
	}{
		"nothing new":                  {objects: []*watchcache.Object{obj("c", 7), obj("a", 3), obj("b", 5)}, version: 10},
		"a newer version":              {objects: []*watchcache.Object{obj("a", 3), obj("b", 5), obj("c", 7)}, version: 20},
		"all at once":                  {objects: []*watchcache.Object{obj("a", 13), obj("aa", 12), obj("d", 15), obj("b", 5)}, version: 20, want: []string{"ADDED aa@12", "MODIFIED a@13", "ADDED d@15", "DELETED c@15"}},
		"only deletions":               {objects: []*watchcache.Object{obj("b", 5)}, version: 20, want: []string{"DELETED a@10", "DELETED c@10"}},
		"change at the list's version": {objects: []*watchcache.Object{obj("a", 3), obj("c", 20)}, version: 20, want: []string{"DELETED b@10", "MODIFIED c@20"}},
		"replaced object":              {objects: []*watchcache.Object{obj("a", 12), obj("b", 14, "new"), obj("c", 7)}, version: 20, want: []string{"MODIFIED a@12", "DELETED b@12", "ADDED b@14"}},
		"older version":                {objects: []*watchcache.Object{obj("a", 3)}, version: 9, err: &watchcache.ExpiredError{Version: 10, Oldest: 9}},
		"changed history":              {objects: []*watchcache.Object{obj("a", 4), obj("b", 5), obj("c", 7)}, version: 20, err: &watchcache.ExpiredError{Version: 10, Oldest: 20}},
	} {
		t.Run(name, func(t *testing.T) {
			storage := &expiringStorage{objects: []*watchcache.Object{obj("a", 3), obj("b", 5), obj("c", 7)}, version: 10}
			inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, r *rig) {
				w := r.watch(watchcache.WatchOptions{})
				r.wantNext(w)
				storage.relist(test.objects, test.version)
				got, err := r.next(w)
				if !slices.Equal(got, test.want) || fmt.Sprint(err) != fmt.Sprint(test.err) {
					t.Errorf("the watch got %q, %v; want %q, %v", got, err, test.want, test.err)
				}
				l, err := r.cache.List(t.Context(), watchcache.ListOptions{})
				if err != nil || l.Version != test.version || len(l.Objects) != len(test.objects) {
					t.Errorf("List() = %+v, %v; want %d objects at version %d", l, err, len(test.objects), test.version)
				}
			})
		})
	}
}

// TestRelistLosesNoDeletion shows that a client with a version from before or after a relist gets
// all changes found by it. A client with a version in between must list: it may have objects from
// elsewhere that came and went unseen.
func TestRelistLosesNoDeletion(t *testing.T) {
	storage := &expiringStorage{objects: []*watchcache.Object{obj("a", 3), obj("b", 5), obj("c", 7), obj("d", 8)}, version: 10}
	inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, r *rig) {
		between := []watchcache.WatchOptions{{After: 15}, {After: 15, Filter: newFilter("", "odd=1", "")}}
		var future []*watchcache.Watcher
		for _, o := range between {
			future = append(future, r.watch(o))
		}
		before, after := r.watch(watchcache.WatchOptions{After: 10}), r.watch(watchcache.WatchOptions{After: 20})
		storage.relist([]*watchcache.Object{obj("c", 12), obj("d", 8)}, 20)

		all := []string{"MODIFIED c@12", "DELETED a@12", "DELETED b@12"}
		r.wantNext(before, all...)
		r.wantNext(after)
		r.wantNext(r.watch(watchcache.WatchOptions{After: 10}), all...)
		r.wantNext(r.watch(watchcache.WatchOptions{After: 20}))

		expired := &watchcache.ExpiredError{Version: 15, Oldest: 20}
		for i, o := range between {
			if _, err := r.next(future[i]); fmt.Sprint(err) != expired.Error() {
				t.Errorf("watch %d, open while its version becomes unknown: got %v, want %v", i, err, expired)
			}
			if _, err := r.cache.Watch(t.Context(), o); fmt.Sprint(err) != expired.Error() {
				t.Errorf("watch %d from an unknown version: got %v, want %v", i, err, expired)
			}
		}
		if _, err := r.cache.List(t.Context(), watchcache.ListOptions{Exact: 15}); fmt.Sprint(err) != expired.Error() {
			t.Errorf("List at an unknown version: got %v, want %v", err, expired)
		}
	})
}

// TestRelistDoesNotEndFastWatchers shows that watchers which read at once are not too slow, however
// many changes a relist finds.
func TestRelistDoesNotEndFastWatchers(t *testing.T) {
	const watchers, objects = 500, 200
	storage := &expiringStorage{version: 10}
	inBubble(t, watchcache.Config{Storage: storage, Bytes: 1 << 10}, func(t *testing.T, r *rig) {
		all := make([]receiver, watchers)
		for i := range all {
			r.watch(watchcache.WatchOptions{Receive: all[i].receive})
		}
		time.Sleep(time.Minute)
		var found []*watchcache.Object
		for i := range objects {
			found = append(found, obj(fmt.Sprint("w", i), uint64(11+i)))
		}
		storage.relist(found, 1000)
		for i := range all {
			if got, errs := all[i].take(); len(got) != objects || errs != nil {
				t.Fatalf("watcher %d got %d events, %v; want %d, no error", i, len(got), errs, objects)
			}
		}
	})
}

// TestStorageFailureIsRetried shows that after failures the cache continues from its version, and
// the pauses between its attempts.
func TestStorageFailureIsRetried(t *testing.T) {
	down := errors.New("the storage is down")
	var attempts []time.Time
	storage := &scriptedStorage{
		list: func() ([]*watchcache.Object, uint64, error) { return nil, 10, nil },
	}
	storage.watch = func(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
		attempts = append(attempts, time.Now())
		if len(attempts) < 12 {
			return down
		}
		if after != 10 {
			t.Errorf("the cache watches from version %d, want 10", after)
		}
		if err := emit(watchcache.Event{Type: watch.Added, Object: obj("a", 11), Version: 11}); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return ctx.Err()
	}
	inBubble(t, watchcache.Config{Storage: storage, Retry: 10 * time.Second}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if err := r.cache.Status().Err; !errors.Is(err, down) {
			t.Errorf("Status().Err = %v, want %v", err, down)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.wantNext(w, "ADDED a@11")
		if s := r.cache.Status(); s.Err != nil || s.Failures != 11 {
			t.Errorf("Status() = %+v, want 11 failures and no error", s)
		}
		for i := 1; i < len(attempts); i++ {
			if pause := attempts[i].Sub(attempts[i-1]); pause < 50*time.Millisecond || pause > 15*time.Second {
				t.Errorf("the pause before attempt %d is %v, want 50ms to 15s", i, pause)
			}
		}
	})
}

// TestOutOfOrderEventCausesRelist shows that the cache lists again after a repeated event.
func TestOutOfOrderEventCausesRelist(t *testing.T) {
	lists, watches := 0, 0
	storage := &scriptedStorage{list: func() ([]*watchcache.Object, uint64, error) {
		lists++
		return nil, uint64(10 * lists), nil
	}}
	storage.watch = func(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
		if watches++; watches == 1 {
			return emit(watchcache.Event{Type: watch.Added, Object: obj("a", after), Version: after})
		}
		<-ctx.Done()
		return ctx.Err()
	}
	inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, r *rig) {
		time.Sleep(time.Second)
		if s := r.cache.Status(); s.Version != 20 || s.Relists != 1 || s.Objects != 0 {
			t.Errorf("Status() = %+v, want version 20, 1 relist, 0 objects", s)
		}
	})
}

// TestEndedStorageWatchIsReopenedAtOnce shows that a watch that ends without an error is followed
// by the next one at once, even if the storage is quiet.
func TestEndedStorageWatchIsReopenedAtOnce(t *testing.T) {
	var gaps []time.Duration
	var ended time.Time
	storage := &scriptedStorage{list: func() ([]*watchcache.Object, uint64, error) { return nil, 10, nil }}
	storage.watch = func(ctx context.Context, _ uint64, _ func(watchcache.Event) error) error {
		if !ended.IsZero() {
			gaps = append(gaps, time.Since(ended))
		}
		select {
		case <-time.After(5 * time.Minute):
		case <-ctx.Done():
		}
		ended = time.Now()
		return nil
	}
	inBubble(t, watchcache.Config{Storage: storage}, func(t *testing.T, _ *rig) {
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		if !slices.Equal(gaps, make([]time.Duration, 6)) {
			t.Errorf("the gaps between watches are %v, want six of 0s", gaps)
		}
	})
}

// TestPoll polls a cache that doesn't run.
func TestPoll(t *testing.T) {
	storage := memory.New()
	create := func(name string) {
		t.Helper()
		if _, err := storage.Create(t.Context(), widget(name)); err != nil {
			t.Fatal(err)
		}
	}
	create("a/one")
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		t.Fatal(err)
	}
	poll := func(want string) {
		t.Helper()
		if err := cache.Poll(); err != nil {
			t.Error(err)
		}
		list, err := cache.List(t.Context(), watchcache.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(list.Version)
		for _, o := range list.Objects {
			got += " " + o.Key
		}
		if got != want {
			t.Errorf("after Poll, the cache has %s, want %s", got, want)
		}
	}
	poll("2 a/one")
	poll("2 a/one")
	w, err := cache.Watch(t.Context(), watchcache.WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	create("a/two")
	storage.Bookmark()
	poll("4 a/one a/two")
	if events, err := w.Next(t.Context()); err != nil || len(events) != 1 || events[0].Version != 3 {
		t.Errorf("Next() = %v, %v; want one event at version 3", events, err)
	}

	create("a/three")
	storage.Compact(storage.Version())
	poll("5 a/one a/three a/two") // by a list
	if relists := cache.Status().Relists; relists != 1 {
		t.Errorf("Status().Relists = %d, want 1", relists)
	}

	refused := errors.New("refused")
	failing := &scriptedStorage{list: func() ([]*watchcache.Object, uint64, error) { return nil, 0, refused }}
	if cache, err = watchcache.New(watchcache.Config{Storage: failing}); err != nil {
		t.Fatal(err)
	}
	if err := cache.Poll(); !errors.Is(err, refused) {
		t.Errorf("Poll() = %v, want %v", err, refused)
	}
}
