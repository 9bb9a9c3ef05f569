// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// provider is a metrics.CacheProvider of one cache.
type provider struct {
	name string
	read func() metrics.CacheState
	last metrics.CacheState // at the end of the cache
}

func (p *provider) BeginCache(name string, read func() metrics.CacheState) (end func()) {
	p.name, p.read = name, read
	return func() { p.last = read() }
}

// TestMetrics ends watches in each way, reads, and compares all counts.
func TestMetrics(t *testing.T) {
	p := &provider{}
	config := watchcache.Config{Name: "widgets", Metrics: p, Age: time.Minute, BookmarkInterval: 10 * time.Second}
	inBubble(t, config, func(t *testing.T, r *rig) {
		began := time.Now()
		r.watch(watchcache.WatchOptions{Timeout: 5 * time.Second})
		r.watch(watchcache.WatchOptions{}) // never reads
		withBookmarks := r.watch(watchcache.WatchOptions{Bookmarks: true})
		encoding := r.watch(watchcache.WatchOptions{Format: failingFormat{}})
		r.watch(watchcache.WatchOptions{}).Close()
		r.create("a/one")
		r.wantNext(withBookmarks, "ADDED a/one@2")
		if _, err := r.next(encoding); err == nil {
			t.Error("an event was encoded by a failing format")
		}
		lastEvent := time.Now()
		r.storage.Bookmark()
		time.Sleep(20 * time.Second)
		r.wantNext(withBookmarks, "BOOKMARK 3")
		if _, err := r.cache.Get(t.Context(), "a/one", 3); err != nil {
			t.Error(err)
		}
		for range 2 {
			if _, err := r.cache.List(t.Context(), watchcache.ListOptions{}); err != nil {
				t.Error(err)
			}
		}
		waits, cancel := context.WithCancel(t.Context())
		go func() { _ = r.cache.WaitUntilFresh(waits, 9) }()
		synctest.Wait()
		got := p.read()
		want := metrics.CacheState{
			Ready: true, LastEvent: lastEvent, Version: 3, Oldest: 1, Awaited: 9, Objects: 1, Changes: 1,
			ObjectBytes: got.ObjectBytes, ChangeBytes: got.ChangeBytes, OldestChange: began, Watchers: 2,
			Applied: 1, Sent: 2, Gets: 1, Lists: 2, Ended: metrics.WatchEnds{Closed: 1, TimedOut: 1, Failed: 1},
		}
		if p.name != "widgets" || got != want {
			t.Errorf("the state of %q is\n%+v, want\n%+v", p.name, got, want)
		}
		cancel()

		time.Sleep(time.Minute)
		r.stop()
		want.Ready, want.Version, want.Oldest, want.Awaited, want.Objects, want.Watchers = false, 0, 0, 0, 0, 0
		want.Changes, want.ChangeBytes, want.OldestChange = 0, p.last.ChangeBytes, time.Time{}
		want.Err, want.Ended.Slow, want.Ended.Stopped = context.Canceled, 1, 1
		if p.last != want {
			t.Errorf("the last state is\n%+v, want\n%+v", p.last, want)
		}
	})
}

// TestSlowWatchersAreLogged expects one line for all watchers ended at once.
func TestSlowWatchersAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		storage := memory.New()
		var stop context.CancelFunc
		cache := run(t, watchcache.Config{Storage: storage, Name: "widgets", Age: time.Minute}, logger, &stop)
		if err := cache.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			if _, err := cache.Watch(t.Context(), watchcache.WatchOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := storage.Create(t.Context(), widget(fmt.Sprint("a/", i))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(2 * time.Minute)
		stop()
		want := `"level"=0 "msg"="Watches were too slow" "cache"="widgets" "watches"=5 "ended"=true "slowestVersion"=1 "oldestVersion"=6`
		if len(lines) != 1 || lines[0] != want {
			t.Errorf("got  %q\nwant %q", lines, want)
		}
	})
}
