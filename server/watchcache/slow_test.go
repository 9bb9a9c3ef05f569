// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// TestSlowWatcherIsEndedByBytes shows that a watcher that doesn't read is ended when its changes
// exceed the log's size, and that the other watchers get everything.
func TestSlowWatcherIsEndedByBytes(t *testing.T) {
	inBubble(t, watchcache.Config{Bytes: 20 << 10}, func(t *testing.T, r *rig) {
		slow := r.watch(watchcache.WatchOptions{})
		asleep := r.watch(watchcache.WatchOptions{Filter: newFilter("none", "", "")})
		blocked, healthy := receiver{blocked: true}, receiver{}
		r.watch(watchcache.WatchOptions{Receive: blocked.receive})
		r.watch(watchcache.WatchOptions{Receive: healthy.receive, Format: watchcache.JSON{}})
		r.wantNext(asleep)
		r.create("a/one")
		for range 99 {
			r.update("a/one")
		}
		if s := r.cache.Status(); s.ChangeBytes > 21<<10 || s.Changes < 5 || s.Oldest != s.Version-uint64(s.Changes) {
			t.Errorf("Status() = %+v, want at most 21 KiB of changes", s)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		_, err := r.next(slow)
		if expired := new(watchcache.ExpiredError); !errors.As(err, &expired) || expired.Version != 1 || expired.Oldest < 70 {
			t.Errorf("the slow watcher: got %v, want an ExpiredError", err)
		}
		if _, errs := blocked.take(); len(errs) != 1 || !errors.As(errs[0], new(*watchcache.ExpiredError)) {
			t.Errorf("the blocked watcher: got %v, want an ExpiredError", errs)
		}
		if got, errs := healthy.take(); len(got) != 100 || errs != nil {
			t.Errorf("the healthy watcher: got %d events, %v; want 100", len(got), errs)
		}
		r.wantNext(asleep)
		if s := r.cache.Status(); s.Ended.Slow != 2 || s.Watchers != 2 {
			t.Errorf("Status() = %+v, want 2 slow watchers and 2 open ones", s)
		}
	})
}

// TestMergedWatchResumes shows the events of a client that resumes from a version between merged
// events: it misses nothing, but gets events for objects it never had.
func TestMergedWatchResumes(t *testing.T) {
	inBubble(t, watchcache.Config{Age: time.Minute, MergeSlow: true}, func(t *testing.T, r *rig) {
		slow := r.watch(watchcache.WatchOptions{})
		r.create("a/dropped")        // 2
		time.Sleep(2 * time.Minute)  // the log begins here
		r.create("a/changes")        // 3
		r.create("a/comes and goes") // 4
		r.create("a/last")           // 5
		r.update("a/changes")        // 6
		r.remove("a/comes and goes") // 7
		r.wantNext(slow, "ADDED a/dropped@2", "ADDED a/last@5", "ADDED a/changes@6")
		r.wantNext(r.watch(watchcache.WatchOptions{After: 5}), "MODIFIED a/changes@6", "DELETED a/comes and goes@7")
	})
}

// TestMergeSlow shows the merged events of a slow watch, with several filters: one event for each
// changed object, deletions first.
func TestMergeSlow(t *testing.T) {
	config := watchcache.Config{Age: time.Minute, MergeSlow: true}
	inBubble(t, config, func(t *testing.T, r *rig) {
		for _, name := range []string{"stays", "changes", "goes", "leaves", "enters", "is made anew"} {
			r.create("a/"+name, "app=x", "node="+name) // 2 to 7
		}
		r.update("a/enters", "app=y") // 8
		all := r.watch(watchcache.WatchOptions{InitialEvents: true})
		selected := r.watch(watchcache.WatchOptions{InitialEvents: true, Bookmarks: true, Filter: newFilter("", "app=x", "")})
		unaffected := r.watch(watchcache.WatchOptions{Filter: newFilter("", "", "spec.node=stays")})
		future := r.watch(watchcache.WatchOptions{After: 11})
		for w, want := range map[*watchcache.Watcher]int{all: 6, selected: 6, unaffected: 0, future: 0} {
			if got, err := r.next(w); len(got) != want || err != nil {
				t.Errorf("got %q, %v; want %d events", got, err, want)
			}
		}
		received := receiver{blocked: true}
		blocked := r.watch(watchcache.WatchOptions{Receive: received.receive})
		r.create("a/comes and goes", "app=x") // 9
		synctest.Wait()
		r.update("a/changes", "app=x")      // 10
		r.remove("a/comes and goes")        // 11
		r.remove("a/goes")                  // 12
		r.update("a/leaves", "app=y")       // 13
		r.remove("a/is made anew")          // 14
		r.create("a/is made anew", "app=x") // 15
		r.update("a/changes", "app=x")      // 16
		r.update("a/enters", "app=x")       // 17
		r.remove("a/enters")                // 18
		r.create("a/enters", "app=x")       // 19
		r.storage.Bookmark()                // 20
		time.Sleep(2 * time.Minute)
		r.create("a/late", "app=x") // 21
		synctest.Wait()
		if s := r.cache.Status(); s.Ended.Slow != 0 || s.Merged != 4 || s.Watchers != 5 || s.Changes != 1 {
			t.Errorf("Status() = %+v, want 4 merged watches, 5 open ones, 1 change", s)
		}
		r.wantNext(all, "DELETED a/enters@8", "DELETED a/goes@8", "DELETED a/is made anew@8", "MODIFIED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		r.wantNext(selected, "DELETED a/goes@8", "DELETED a/is made anew@8", "DELETED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21",
			"BOOKMARK 21", "BOOKMARK 21") // one after the merged events, one because it is due
		r.wantNext(unaffected)
		r.wantNext(future, "DELETED a/enters@11", "DELETED a/goes@11", "DELETED a/is made anew@11", "MODIFIED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		blocked.Ready()
		received.want(t, nil, "ADDED a/comes and goes@9",
			"DELETED a/comes and goes@9", "DELETED a/enters@9", "DELETED a/goes@9", "DELETED a/is made anew@9",
			"MODIFIED a/leaves@13", "ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		r.update("a/changes", "app=x") // 22
		r.wantNext(all, "MODIFIED a/changes@22")
		r.wantNext(unaffected)
	})
}

// TestWatcherFoundSlowWhileReading shows that a watch found to be too slow during a read gets each
// event once.
func TestWatcherFoundSlowWhileReading(t *testing.T) {
	inBubble(t, watchcache.Config{Bytes: 20 << 10, MergeSlow: true}, func(t *testing.T, r *rig) {
		busy := &interruptingSelector{Selector: labels.Everything()}
		w := r.watch(watchcache.WatchOptions{Filter: watchcache.Filter{Labels: busy}, Bookmarks: true})
		r.create("a/first")
		want := []string{"ADDED a/first@2"}
		busy.interrupt = func() {
			for i := range 100 {
				want = append(want, fmt.Sprintf("ADDED a/%d@%d", i, r.create(fmt.Sprint("a/", i))))
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		events, err := w.Next(t.Context())
		if merged := r.cache.Status().Merged; merged != 1 || err != nil {
			t.Errorf("%d watches were merged, %v; want 1", merged, err)
		}
		rest, err := r.next(w)
		if err != nil {
			t.Error(err)
		}
		got := append(eventStrings(events), rest...)
		if want = append(want, "BOOKMARK 102"); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// interruptingSelector is a selector that calls a function in its first Matches.
type interruptingSelector struct {
	labels.Selector
	interrupt func()
}

func (i *interruptingSelector) Empty() bool { return false }

func (i *interruptingSelector) Matches(l labels.Labels) bool {
	if by := i.interrupt; by != nil {
		i.interrupt = nil
		by()
	}
	return i.Selector.Matches(l)
}

// TestSlowWatcherKeepsNoChanges shows that a slow watch doesn't keep objects that came and went
// unseen.
func TestSlowWatcherKeepsNoChanges(t *testing.T) {
	inBubble(t, watchcache.Config{Age: 10 * time.Second, MergeSlow: true}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{})
		r.create("a/one")
		object := func() weak.Pointer[watchcache.Object] {
			o, err := r.cache.Get(t.Context(), "a/one", 0)
			if err != nil {
				t.Fatal(err)
			}
			return weak.Make(o)
		}()
		r.remove("a/one")
		r.create("a/two")
		r.storage.Compact(r.storage.Version())
		time.Sleep(time.Minute)
		r.create("a/three") // the last change that was dropped is where the log begins
		time.Sleep(time.Minute)
		runtime.GC()
		runtime.GC()
		if object.Value() != nil {
			t.Error("the deleted object is still in memory")
		}
		r.wantNext(w, "ADDED a/two@4", "ADDED a/three@5")
	})
}

// TestEndedWatchersAreCollected shows that ended watchers are garbage, whatever the reason, and so
// are changes that have left the log.
func TestEndedWatchersAreCollected(t *testing.T) {
	inBubble(t, watchcache.Config{Age: 10 * time.Second}, func(t *testing.T, r *rig) {
		weaks := map[string]weak.Pointer[watchcache.Watcher]{}
		begin := func(why string, o watchcache.WatchOptions) *watchcache.Watcher {
			w, err := r.cache.Watch(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			weaks[why] = weak.Make(w)
			return w
		}
		func() {
			all := watchcache.WatchOptions{}
			some := watchcache.WatchOptions{Filter: newFilter("a", "app=x", ""), InitialEvents: true, Bookmarks: true}
			received := watchcache.WatchOptions{Receive: func([]watchcache.Event, error) bool { return false }}
			timed := watchcache.WatchOptions{Timeout: time.Minute, Bookmarks: true}
			begin("closed at once", all).Close()
			begin("closed with initial events to read", some).Close()
			begin("slow", all)
			begin("blocked and slow", received)
			begin("timed out", timed)
			received.Timeout = 5 * time.Second
			begin("blocked and timed out", received)
			w := begin("closed after reading", all)
			asleep := begin("closed asleep", all)
			received.Timeout = 0
			blocked := begin("closed while blocked", received)
			r.wantNext(asleep)
			r.create("a/one", "app=x")
			r.wantNext(w, "ADDED a/one@2")
			r.wantNext(asleep, "ADDED a/one@2")
			w.Close()
			asleep.Close()
			blocked.Close()
		}()
		object := func() weak.Pointer[watchcache.Object] {
			o, err := r.cache.Get(t.Context(), "a/one", 0)
			if err != nil {
				t.Fatal(err)
			}
			return weak.Make(o)
		}()
		r.remove("a/one")
		r.storage.Compact(r.storage.Version())
		time.Sleep(2 * time.Minute)
		r.create("a/two") // the last change that was dropped is where the log begins
		r.remove("a/two")
		r.storage.Compact(r.storage.Version())
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		runtime.GC()
		runtime.GC()
		for why, w := range weaks {
			if w.Value() != nil {
				t.Errorf("%s: the watcher is still in memory", why)
			}
		}
		if object.Value() != nil {
			t.Error("an object deleted before the log's beginning is still in memory")
		}
		if s := r.cache.Status(); s.Watchers != 0 || s.Changes != 0 || s.ChangeBytes != 0 || s.ObjectBytes != 0 {
			t.Errorf("Status() = %+v, want no watchers, changes and objects", s)
		}
	})
}

// TestFramesAreShared shows that events are encoded once for each format, for open watchers and
// later ones.
func TestFramesAreShared(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		one, two := &countingFormat{}, &countingFormat{}
		var mu sync.Mutex // guards frames
		var frames []*byte
		watch := func(format *countingFormat, after uint64) {
			r.watch(watchcache.WatchOptions{After: after, Format: format, Receive: func(events []watchcache.Event, _ error) bool {
				mu.Lock()
				defer mu.Unlock()
				if format == one && len(events) > 0 {
					frames = append(frames, &events[0].Frame[0])
				}
				return true
			}})
			synctest.Wait()
		}
		for range 10 {
			watch(one, 1)
			watch(two, 1)
		}
		r.create("a/one")
		for range 10 {
			watch(one, 1)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, f := range frames {
			if f != frames[0] {
				t.Error("two watchers got different frames of an event")
			}
		}
		if len(frames) != 20 || one.events != 1 || two.events != 1 {
			t.Errorf("%d watchers got frames, encoded %d times, and %d times in the other format; want 20, 1, 1", len(frames), one.events, two.events)
		}
	})
}

// TestFramesOutliveTheirWatchers shows that consecutive watchers share frames, too, so a client
// that reconnects again and again doesn't fill the log.
func TestFramesOutliveTheirWatchers(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		r.create("a/one")
		format, bytes := &countingFormat{}, int64(0)
		for i := range 10 {
			w := r.watch(watchcache.WatchOptions{After: 1, Format: format})
			r.wantNext(w, "ADDED a/one@2")
			w.Close()
			now := r.cache.Status().ChangeBytes
			if i > 0 && now != bytes {
				t.Fatalf("after watch %d the log has %d bytes, want %d as before", i, now, bytes)
			}
			bytes = now
		}
		if format.events != 1 {
			t.Errorf("the event was encoded %d times, want once", format.events)
		}
	})
}

// countingFormat is a format that counts encoded events.
type countingFormat struct {
	watchcache.JSON
	events int
}

func (c *countingFormat) AppendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	c.events++
	return c.JSON.AppendEvent(dst, e)
}

// TestFormatErrorEndsWatch shows that a watch ends with the error of its format.
func TestFormatErrorEndsWatch(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{Format: failingFormat{}})
		r.create("a/one")
		if _, err := r.next(w); err == nil || !strings.Contains(err.Error(), `ADDED of "a/one" at version 2: no`) {
			t.Errorf("the watch ended with %v, want the format's error", err)
		}
	})
}

type failingFormat struct{}

func (failingFormat) AppendEvent([]byte, watchcache.Event) ([]byte, error) {
	return nil, fmt.Errorf("no")
}
