// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestWatchFromHistory shows the past events a watch gets, and the bookmark at their end. TestModel
// compares events with many filters.
func TestWatchFromHistory(t *testing.T) {
	for name, test := range map[string]struct {
		options watchcache.WatchOptions
		want    string
	}{
		"all changes": {
			watchcache.WatchOptions{After: 1},
			"ADDED a/one@2, ADDED a-b/one@3, ADDED a/two@4, ADDED b/one@5, MODIFIED a/two@6, DELETED b/one@7, ADDED ab/one@8",
		},
		"initial events and their end": {watchcache.WatchOptions{InitialEvents: true, After: 8, Bookmarks: true}, "ADDED a-b/one@3, ADDED a/one@2, ADDED a/two@6, ADDED ab/one@8, BOOKMARK 8 end"},
		"end of a list at version 4":   {watchcache.WatchOptions{InitialEnd: true, After: 4}, "ADDED b/one@5, MODIFIED a/two@6, DELETED b/one@7, ADDED ab/one@8, BOOKMARK 8 end"},
		"end, with a filter":           {watchcache.WatchOptions{InitialEnd: true, After: 4, Filter: newFilter("a", "", "")}, "MODIFIED a/two@6, BOOKMARK 8 end"},
		"end of a list at version 8":   {watchcache.WatchOptions{InitialEnd: true, After: 8}, "BOOKMARK 8 end"},
		"no initial events":            {watchcache.WatchOptions{InitialEvents: true, Bookmarks: true, Filter: newFilter("nope", "", "")}, "BOOKMARK 8 end"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
				r.writeHistory()
				got, err := r.next(r.watch(test.options))
				if err != nil || strings.Join(got, ", ") != test.want {
					t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
				}
			})
		})
	}
}

// TestInitialEventsInBatches shows that a state larger than a batch arrives in order, followed by
// the changes since.
func TestInitialEventsInBatches(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		var want []string
		for i := range 700 {
			key := "a/" + string(rune('a'+i/26/26)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26))
			r.create(key)
			want = append(want, "ADDED "+key)
		}
		w := r.watch(watchcache.WatchOptions{InitialEvents: true, Bookmarks: true})
		first, err := w.Next(t.Context())
		if err != nil || len(first) >= 700 {
			t.Fatalf("the first batch has %d events, %v; want fewer than 700", len(first), err)
		}
		r.remove("a/aaa")
		rest, err := r.next(w)
		got := append(eventStrings(first), rest...)
		if err != nil || len(got) != 702 || got[700] != "BOOKMARK 701 end" || got[701] != "DELETED a/aaa@702" {
			t.Fatalf("got %d events, %v, the last ones %q; want 702 that end with a bookmark and a deletion", len(got), err, got[max(0, len(got)-2):])
		}
		for i, w := range want {
			if key, _, _ := strings.Cut(got[i], "@"); key != w {
				t.Fatalf("event %d is %s, want %s", i, got[i], w)
			}
		}
	})
}

func TestBookmarks(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		began := time.Now()
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: 5 * time.Minute, Filter: newFilter("none", "", "")})
		withoutBookmarks := r.watch(watchcache.WatchOptions{Timeout: 5 * time.Minute})
		atNewest := r.watch(watchcache.WatchOptions{After: 3, Bookmarks: true, Timeout: 5 * time.Minute})
		var got []string
		elapsed := func() time.Duration { return time.Since(began) }
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				events, err := w.Next(t.Context())
				if err != nil {
					got = append(got, elapsed().String()+" "+err.Error())
					return
				}
				for _, word := range eventStrings(events) {
					got = append(got, elapsed().String()+" "+word)
				}
			}
		}()
		time.Sleep(90 * time.Second) // the first bookmark is omitted: the version is unchanged
		r.create("a/one")            // 2
		time.Sleep(time.Minute)
		r.storage.Bookmark() // 3
		<-read
		want := "2m0s BOOKMARK 2, 3m0s BOOKMARK 3, 4m0s BOOKMARK 3, 4m58s BOOKMARK 3, 5m0s EOF"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
		if words, err := r.next(withoutBookmarks); err != io.EOF || len(words) != 0 {
			t.Errorf("the watch without bookmarks: got %q, %v; want only %v", words, err, io.EOF)
		}
		if words, err := r.next(atNewest); err != io.EOF || len(words) != 0 {
			t.Errorf("the watch from the newest version: got %q, %v; want only %v", words, err, io.EOF)
		}
		if n := r.cache.Status().Watchers; n != 0 {
			t.Errorf("%d watchers are left, want none", n)
		}
	})
}

// TestShortTimeoutHasNoBookmark shows that a short watch ends without a bookmark.
func TestShortTimeoutHasNoBookmark(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		began := time.Now()
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: 2 * time.Second})
		r.create("a/one")
		r.wantNext(w, "ADDED a/one@2")
		if events, err := w.Next(t.Context()); err != io.EOF || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: got %v, %v; want %v after 2s", time.Since(began), events, err, io.EOF)
		}
	})
}

// TestMaximumDurations shows that the largest durations don't overflow.
func TestMaximumDurations(t *testing.T) {
	const never = math.MaxInt64
	config := watchcache.Config{Age: never, BookmarkInterval: never, Wait: never, Retry: never}
	inBubble(t, config, func(t *testing.T, r *rig) {
		time.Sleep(time.Second)
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: never})
		without := r.watch(watchcache.WatchOptions{Bookmarks: true})
		r.create("a/one")
		time.Sleep(time.Hour)
		r.wantNext(w, "ADDED a/one@2")
		r.wantNext(without, "ADDED a/one@2")
		if n := r.cache.Status().Changes; n != 1 {
			t.Errorf("Status().Changes = %d, want 1", n)
		}
	})
}

// TestFinish shows that a finished watch ends as if its timeout were near.
func TestFinish(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: time.Hour})
		withoutBookmarks := r.watch(watchcache.WatchOptions{})
		r.create("a/one") // 2
		r.wantNext(w, "ADDED a/one@2")
		r.storage.Bookmark() // 3
		synctest.Wait()
		w.Finish()
		withoutBookmarks.Finish()
		r.wantNext(w, "BOOKMARK 3")
		r.wantNext(withoutBookmarks, "ADDED a/one@2")
		r.create("a/two") // 4
		r.wantNext(w, "ADDED a/two@4")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, ended := range []*watchcache.Watcher{w, withoutBookmarks} {
			if _, err := r.next(ended); err != io.EOF {
				t.Errorf("the watch ended with %v, want %v", err, io.EOF)
			}
			ended.Finish()
		}
	})
}

// TestFinishNeverDelaysEnd shows that Finish extends no watch, even if called twice.
func TestFinishNeverDelaysEnd(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		began := time.Now()
		short := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: time.Second})
		twice := r.watch(watchcache.WatchOptions{Timeout: time.Hour})
		short.Finish()
		twice.Finish()
		time.Sleep(500 * time.Millisecond)
		twice.Finish()
		for i, w := range []*watchcache.Watcher{short, twice} {
			for err := error(nil); err == nil; {
				_, err = w.Next(t.Context())
			}
			if took, want := time.Since(began), time.Duration(i+1)*time.Second; took != want {
				t.Errorf("watch %d ended after %v, want %v", i, took, want)
			}
		}
	})
}

// TestInitialEndAfterStorageWentBack shows that a watch from a list newer than the cache expires:
// the storage has gone back since that list.
func TestInitialEndAfterStorageWentBack(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		r.create("a/one") // 2
		r.wantNext(r.watch(watchcache.WatchOptions{After: 2, InitialEnd: true}), "BOOKMARK 2 end")
		w, err := r.cache.Watch(t.Context(), watchcache.WatchOptions{After: 3, InitialEnd: true})
		if !errors.As(err, new(*watchcache.ExpiredError)) {
			t.Errorf("Watch after a future list: got %v, want an ExpiredError", err)
			r.wantNext(w)
		}
	})
}

// TestWatchEnds shows the errors of Next.
func TestWatchEnds(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Next(ctx); err != context.DeadlineExceeded {
			t.Errorf("Next with an ended context: got %v, want %v", err, context.DeadlineExceeded)
		}
		r.create("a/one")
		r.wantNext(w, "ADDED a/one@2")

		go func() {
			time.Sleep(time.Second)
			w.Close()
			w.Close()
		}()
		for range 2 {
			if _, err := w.Next(t.Context()); err != io.EOF {
				t.Errorf("Next after Close: got %v, want %v", err, io.EOF)
			}
		}

		w = r.watch(watchcache.WatchOptions{})
		r.stop()
		if _, err := w.Next(t.Context()); !errors.As(err, new(*watchcache.NotReadyError)) {
			t.Errorf("Next after Run: got %v, want a NotReadyError", err)
		}
		synctest.Wait()
		if n := r.cache.Status().Watchers; n != 0 {
			t.Errorf("%d watchers are left, want none", n)
		}
	})
}
