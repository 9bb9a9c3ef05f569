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

// TestWatchFromHistory shows what watches get of what has happened, and where they mark the end of
// it. TestModel compares what they get with each filter.
func TestWatchFromHistory(t *testing.T) {
	for name, test := range map[string]struct {
		options watchcache.WatchOptions
		want    string
	}{
		"everything": {
			watchcache.WatchOptions{After: 1},
			"ADDED a/one@2, ADDED a-b/one@3, ADDED a/two@4, ADDED b/one@5, MODIFIED a/two@6, DELETED b/one@7, ADDED ab/one@8",
		},
		"the state, with its end": {watchcache.WatchOptions{InitialEvents: true, After: 8, Bookmarks: true}, "ADDED a-b/one@3, ADDED a/one@2, ADDED a/two@6, ADDED ab/one@8, BOOKMARK 8 end"},
		"the end of a list at 4":  {watchcache.WatchOptions{InitialEnd: true, After: 4}, "ADDED b/one@5, MODIFIED a/two@6, DELETED b/one@7, ADDED ab/one@8, BOOKMARK 8 end"},
		"the end, with a filter":  {watchcache.WatchOptions{InitialEnd: true, After: 4, Filter: parsed("a", "", "")}, "MODIFIED a/two@6, BOOKMARK 8 end"},
		"the end of a list at 8":  {watchcache.WatchOptions{InitialEnd: true, After: 8}, "BOOKMARK 8 end"},
		"no state":                {watchcache.WatchOptions{InitialEvents: true, Bookmarks: true, Filter: parsed("nope", "", "")}, "BOOKMARK 8 end"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
				r.history()
				got, err := r.next(r.watch(test.options))
				if err != nil || strings.Join(got, ", ") != test.want {
					t.Errorf("got  %q, %v\nwant %q", got, err, test.want)
				}
			})
		})
	}
}

// TestInitialEventsInBatches shows that a state which is larger than a batch arrives in order, and
// that changes meanwhile come behind it.
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
			t.Fatalf("the first batch has %d events, %v", len(first), err)
		}
		r.remove("a/aaa")
		rest, err := r.next(w)
		got := append(words(first), rest...)
		if err != nil || len(got) != 702 || got[700] != "BOOKMARK 701 end" || got[701] != "DELETED a/aaa@702" {
			t.Fatalf("got %d events, %v, the last ones %q", len(got), err, got[max(0, len(got)-2):])
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
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: 5 * time.Minute, Filter: parsed("none", "", "")})
		without := r.watch(watchcache.WatchOptions{Timeout: 5 * time.Minute})
		behind := r.watch(watchcache.WatchOptions{After: 3, Bookmarks: true, Timeout: 5 * time.Minute})
		var got []string
		at := func() time.Duration { return time.Since(began) }
		read := make(chan struct{})
		go func() {
			defer close(read)
			for {
				events, err := w.Next(t.Context())
				if err != nil {
					got = append(got, at().String()+" "+err.Error())
					return
				}
				for _, word := range words(events) {
					got = append(got, at().String()+" "+word)
				}
			}
		}()
		time.Sleep(90 * time.Second) // the first bookmark would be at the version of the beginning
		r.create("a/one")            // 2
		time.Sleep(time.Minute)
		r.storage.Bookmark() // 3
		<-read
		want := "2m0s BOOKMARK 2, 3m0s BOOKMARK 3, 4m0s BOOKMARK 3, 4m58s BOOKMARK 3, 5m0s EOF"
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
		if words, err := r.next(without); err != io.EOF || len(words) != 0 {
			t.Errorf("without bookmarks: %q, %v", words, err)
		}
		if words, err := r.next(behind); err != io.EOF || len(words) != 0 {
			t.Errorf("a bookmark at the version of the beginning: %q, %v", words, err)
		}
		if n := r.cache.Status().Watchers; n != 0 {
			t.Errorf("%d watchers are left", n)
		}
	})
}

// TestShortTimeout shows that a watch which is too short for it has no bookmark before its end.
func TestShortTimeout(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		began := time.Now()
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: 2 * time.Second})
		r.create("a/one")
		r.wantNext(w, "ADDED a/one@2")
		if events, err := w.Next(t.Context()); err != io.EOF || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %v, %v", time.Since(began), events, err)
		}
	})
}

// TestEndlessTimes shows that no time is too long: as good as never is later than now.
func TestEndlessTimes(t *testing.T) {
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
			t.Errorf("the log has %d changes", n)
		}
	})
}

// TestFinish shows that a watch can be made to end as if its timeout were near.
func TestFinish(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{Bookmarks: true, Timeout: time.Hour})
		without := r.watch(watchcache.WatchOptions{})
		r.create("a/one") // 2
		r.wantNext(w, "ADDED a/one@2")
		r.storage.Bookmark() // 3
		synctest.Wait()
		w.Finish()
		without.Finish()
		r.wantNext(w, "BOOKMARK 3")
		r.wantNext(without, "ADDED a/one@2")
		r.create("a/two") // 4
		r.wantNext(w, "ADDED a/two@4")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, ended := range []*watchcache.Watcher{w, without} {
			if _, err := r.next(ended); err != io.EOF {
				t.Errorf("got %v", err)
			}
			ended.Finish()
		}
	})
}

// TestFinishPutsNoEndOff shows that Finish makes no watch last longer, also if it comes twice.
func TestFinishPutsNoEndOff(t *testing.T) {
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
				t.Errorf("watch %d ended after %v, not %v", i, took, want)
			}
		}
	})
}

// TestInitialEndOfAnotherHistory shows that who has a list that is newer than the cache, which has
// been put back since then, gets no bookmark behind it.
func TestInitialEndOfAnotherHistory(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		r.create("a/one") // 2
		r.wantNext(r.watch(watchcache.WatchOptions{After: 2, InitialEnd: true}), "BOOKMARK 2 end")
		w, err := r.cache.Watch(t.Context(), watchcache.WatchOptions{After: 3, InitialEnd: true})
		if !errors.As(err, new(*watchcache.ExpiredError)) {
			t.Errorf("got %v", err)
			r.wantNext(w)
		}
	})
}

// TestWatchEnds shows how Next ends.
func TestWatchEnds(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Next(ctx); err != context.DeadlineExceeded {
			t.Errorf("after its context: %v", err)
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
				t.Errorf("after Close: %v", err)
			}
		}

		w = r.watch(watchcache.WatchOptions{})
		r.stop()
		if _, err := w.Next(t.Context()); !errors.As(err, new(*watchcache.NotReadyError)) {
			t.Errorf("after Run: %v", err)
		}
		synctest.Wait()
		if n := r.cache.Status().Watchers; n != 0 {
			t.Errorf("%d watchers are left", n)
		}
	})
}
