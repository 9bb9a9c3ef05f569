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

// TestSlowByBytes shows that a watcher which doesn't read is ended when what it has to read is more
// than the log may hold, and that the others get everything.
func TestSlowByBytes(t *testing.T) {
	inBubble(t, watchcache.Config{Bytes: 20 << 10}, func(t *testing.T, r *rig) {
		slow := r.watch(watchcache.WatchOptions{})
		asleep := r.watch(watchcache.WatchOptions{Filter: parsed("none", "", "")})
		blocked, healthy := receiver{full: true}, receiver{}
		r.watch(watchcache.WatchOptions{Receive: blocked.receive})
		r.watch(watchcache.WatchOptions{Receive: healthy.receive, Format: watchcache.JSON{}})
		r.wantNext(asleep)
		r.create("a/one")
		for range 99 {
			r.update("a/one")
		}
		if s := r.cache.Status(); s.ChangeBytes > 21<<10 || s.Changes < 5 || s.Oldest != s.Version-uint64(s.Changes) {
			t.Errorf("status is %+v", s)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		_, err := r.next(slow)
		if expired := new(watchcache.ExpiredError); !errors.As(err, &expired) || expired.Version != 1 || expired.Oldest < 70 {
			t.Errorf("the slow one: %v", err)
		}
		if _, errs := blocked.take(); len(errs) != 1 || !errors.As(errs[0], new(*watchcache.ExpiredError)) {
			t.Errorf("the blocked one: %v", errs)
		}
		if got, errs := healthy.take(); len(got) != 100 || errs != nil {
			t.Errorf("the healthy one: %d events, %v", len(got), errs)
		}
		r.wantNext(asleep)
		if s := r.cache.Status(); s.Ended.Slow != 2 || s.Watchers != 2 {
			t.Errorf("status is %+v", s)
		}
	})
}

// TestMergedWatchIsCutOff shows what a client gets that comes back with a version between merged
// events: it misses nothing, but is told of objects that it never had.
func TestMergedWatchIsCutOff(t *testing.T) {
	inBubble(t, watchcache.Config{Age: time.Minute, MergeSlow: true}, func(t *testing.T, r *rig) {
		slow := r.watch(watchcache.WatchOptions{})
		r.create("a/dropped")        // 2
		time.Sleep(2 * time.Minute)  // so the log begins here
		r.create("a/changes")        // 3
		r.create("a/comes and goes") // 4
		r.create("a/last")           // 5
		r.update("a/changes")        // 6
		r.remove("a/comes and goes") // 7
		r.wantNext(slow, "ADDED a/dropped@2", "ADDED a/last@5", "ADDED a/changes@6")
		r.wantNext(r.watch(watchcache.WatchOptions{After: 5}), "MODIFIED a/changes@6", "DELETED a/comes and goes@7")
	})
}

// TestMergeSlow shows what a watch gets that was too slow, with each filter: one event for each
// object that has changed, the deletions first.
func TestMergeSlow(t *testing.T) {
	config := watchcache.Config{Age: time.Minute, MergeSlow: true}
	inBubble(t, config, func(t *testing.T, r *rig) {
		for _, name := range []string{"stays", "changes", "goes", "leaves", "enters", "is made anew"} {
			r.create("a/"+name, "app=x", "node="+name) // 2 to 7
		}
		r.update("a/enters", "app=y") // 8
		all := r.watch(watchcache.WatchOptions{InitialEvents: true})
		selected := r.watch(watchcache.WatchOptions{InitialEvents: true, Bookmarks: true, Filter: parsed("", "app=x", "")})
		unconcerned := r.watch(watchcache.WatchOptions{Filter: parsed("", "", "spec.node=stays")})
		future := r.watch(watchcache.WatchOptions{After: 11})
		for w, want := range map[*watchcache.Watcher]int{all: 6, selected: 6, unconcerned: 0, future: 0} {
			if got, err := r.next(w); len(got) != want || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		received := receiver{full: true}
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
			t.Errorf("status is %+v", s)
		}
		r.wantNext(all, "DELETED a/enters@8", "DELETED a/goes@8", "DELETED a/is made anew@8", "MODIFIED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		r.wantNext(selected, "DELETED a/goes@8", "DELETED a/is made anew@8", "DELETED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21",
			"BOOKMARK 21", "BOOKMARK 21") // behind the difference, and because one is due
		r.wantNext(unconcerned)
		r.wantNext(future, "DELETED a/enters@11", "DELETED a/goes@11", "DELETED a/is made anew@11", "MODIFIED a/leaves@13",
			"ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		blocked.Ready()
		received.want(t, nil, "ADDED a/comes and goes@9",
			"DELETED a/comes and goes@9", "DELETED a/enters@9", "DELETED a/goes@9", "DELETED a/is made anew@9",
			"MODIFIED a/leaves@13", "ADDED a/is made anew@15", "MODIFIED a/changes@16", "ADDED a/enters@19", "ADDED a/late@21")
		r.update("a/changes", "app=x") // 22
		r.wantNext(all, "MODIFIED a/changes@22")
		r.wantNext(unconcerned)
	})
}

// TestSlowWhileReading shows that a watch which is found to be too slow while it reads gets
// everything once.
func TestSlowWhileReading(t *testing.T) {
	inBubble(t, watchcache.Config{Bytes: 20 << 10, MergeSlow: true}, func(t *testing.T, r *rig) {
		busy := &interrupted{Selector: labels.Everything()}
		w := r.watch(watchcache.WatchOptions{Filter: watchcache.Filter{Labels: busy}, Bookmarks: true})
		r.create("a/first")
		want := []string{"ADDED a/first@2"}
		busy.by = func() {
			for i := range 100 {
				want = append(want, fmt.Sprintf("ADDED a/%d@%d", i, r.create(fmt.Sprint("a/", i))))
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		events, err := w.Next(t.Context())
		if merged := r.cache.Status().Merged; merged != 1 || err != nil {
			t.Errorf("%d watches were merged, %v", merged, err)
		}
		rest, err := r.next(w)
		if err != nil {
			t.Error(err)
		}
		got := append(words(events), rest...)
		if want = append(want, "BOOKMARK 102"); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// interrupted is a selector that does something when it is first asked.
type interrupted struct {
	labels.Selector
	by func()
}

func (i *interrupted) Empty() bool { return false }

func (i *interrupted) Matches(l labels.Labels) bool {
	if by := i.by; by != nil {
		i.by = nil
		by()
	}
	return i.Selector.Matches(l)
}

// TestSlowKeepsNoChanges shows that objects which came and went are garbage although a watch that
// was too slow has not seen them.
func TestSlowKeepsNoChanges(t *testing.T) {
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
			t.Error("the object is still there")
		}
		r.wantNext(w, "ADDED a/two@4", "ADDED a/three@5")
	})
}

// TestNothingStaysBehind shows that watchers are garbage once they have ended, however that was,
// and so are changes that have left the log.
func TestNothingStaysBehind(t *testing.T) {
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
			some := watchcache.WatchOptions{Filter: parsed("a", "app=x", ""), InitialEvents: true, Bookmarks: true}
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
				t.Errorf("%s: the watcher is still there", why)
			}
		}
		if object.Value() != nil {
			t.Error("an object is still there that was deleted before the log begins")
		}
		if s := r.cache.Status(); s.Watchers != 0 || s.Changes != 0 || s.ChangeBytes != 0 || s.ObjectBytes != 0 {
			t.Errorf("status is %+v", s)
		}
	})
}

// TestFramesAreShared counts how often events are encoded: once for each format, for live watchers
// and for those that come later.
func TestFramesAreShared(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		one, two := &counting{}, &counting{}
		var mu sync.Mutex // guards frames
		var frames []*byte
		watch := func(format *counting, after uint64) {
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
				t.Error("a frame is not shared")
			}
		}
		if len(frames) != 20 || one.events != 1 || two.events != 1 {
			t.Errorf("%d watchers got frames, which were encoded %d times, and %d times in the other format", len(frames), one.events, two.events)
		}
	})
}

// TestFramesOutliveTheirWatchers shows that watchers which come one after the other share frames,
// too: one that comes again and again doesn't fill the log.
func TestFramesOutliveTheirWatchers(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		r.create("a/one")
		format, bytes := &counting{}, int64(0)
		for i := range 10 {
			w := r.watch(watchcache.WatchOptions{After: 1, Format: format})
			r.wantNext(w, "ADDED a/one@2")
			w.Close()
			now := r.cache.Status().ChangeBytes
			if i > 0 && now != bytes {
				t.Fatalf("the log takes %d bytes after watch %d, and took %d before", now, i, bytes)
			}
			bytes = now
		}
		if format.events != 1 {
			t.Errorf("the event was encoded %d times", format.events)
		}
	})
}

// counting is a format that counts.
type counting struct {
	watchcache.JSON
	events int
}

func (c *counting) AppendEvent(dst []byte, e watchcache.Event) ([]byte, error) {
	c.events++
	return c.JSON.AppendEvent(dst, e)
}

// TestFormatFails shows that a watch whose events can't be encoded ends with the error.
func TestFormatFails(t *testing.T) {
	inBubble(t, watchcache.Config{}, func(t *testing.T, r *rig) {
		w := r.watch(watchcache.WatchOptions{Format: failing{}})
		r.create("a/one")
		if _, err := r.next(w); err == nil || !strings.Contains(err.Error(), `ADDED of "a/one" at version 2: no`) {
			t.Errorf("got %v", err)
		}
	})
}

type failing struct{}

func (failing) AppendEvent([]byte, watchcache.Event) ([]byte, error) { return nil, fmt.Errorf("no") }
