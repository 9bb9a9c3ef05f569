// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// paced is a handler whose callbacks take a while.
type paced struct {
	*recorder
	each atomic.Int64
}

func newPaced(t *testing.T, each time.Duration) *paced {
	p := &paced{recorder: record(t)}
	p.each.Store(int64(each))
	p.before = func(string) { time.Sleep(time.Duration(p.each.Load())) }
	return p
}

// TestReaderWaitsForQuickHandlers sends far more events than may wait, at once, to handlers of
// several speeds. The reader waits for a brisk handler as long as it takes. For one that is not
// brisk, and for one that does not return, it waits once, as long as its patience lasts. In either
// case the store and other handlers go on.
func TestReaderWaitsForQuickHandlers(t *testing.T) {
	const sent, objects = 20_000, 10
	for _, test := range []struct {
		each        time.Duration
		all         bool
		least, most time.Duration // that the reader takes
	}{
		{brisk / 2, true, (sent - 2000) * brisk / 2, sent * brisk / 2},
		{brisk, true, (sent - 2000) * brisk, sent * brisk},
		{10 * brisk, false, patience, patience + 20*brisk*2*atOnce},
		{time.Hour, false, patience, patience + time.Millisecond},
	} {
		bubble(t, test.each.String(), func(t *testing.T) {
			r := newRig(t)
			h, other := newPaced(t, 0), record(t)
			s := r.add(h, lately)
			r.add(other, lately)
			stop := r.start()
			r.feed("[ =0@1 ]@1")
			h.take()
			other.take()
			h.each.Store(int64(test.each))
			began := time.Now()
			version := 1
			send := func(n int) {
				r.reader.do(func(s *intake.Sink) error {
					for range n {
						version++
						if err := s.Update(thing(fmt.Sprintf("%d@%d", version%objects, version))); err != nil {
							return err
						}
					}
					return s.Flush()
				})
				if err := r.AwaitResourceVersion(t.Context(), strconv.Itoa(version)); err != nil {
					t.Error(err)
				}
			}
			send(sent)
			if took := time.Since(began); took < test.least || took > test.most {
				t.Errorf("the reader took %v, want %v to %v", took, test.least, test.most)
			}
			synctest.Wait()
			if got := strings.Count(other.take(), " ") + 1; got != sent {
				t.Errorf("the other handler got %d events", got)
			}
			if status := s.Status(); status.Merging == test.all || !test.all && status.Backlog > 2*objects {
				t.Errorf("%+v", status)
			}
			if !test.all { // it is waited for once
				began = time.Now()
				send(sent)
				if took := time.Since(began); took > 0 {
					t.Errorf("the reader took %v for a handler that is slow", took)
				}
			}
			h.each.Store(0)
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			h.agrees(r)
			if got := strings.Count(h.take(), " ") + 1; test.all != (got == sent) {
				t.Errorf("%d events", got)
			}
			if status := s.Status(); status.Merging || status.Backlog > 0 {
				t.Errorf("it has caught up: %+v", status)
			}
			stop()
		})
	}
}

// TestStuckHandlersAreWaitedForTogether has ten handlers that do not return: the reader waits for
// them as long as for one, and only once.
func TestStuckHandlersAreWaitedForTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 5
		r := newRig(t)
		g := newGate()
		var subs []*fanout.Subscription
		for range 10 {
			subs = append(subs, r.add(standing{g}, lately))
		}
		stop := r.start()
		r.feed("[ ]@1 +0@2") // each is called with the first one
		began := time.Now()
		for range 2 {
			r.reader.do(func(s *intake.Sink) error {
				for n := range 10_000 {
					if err := s.Update(thing(fmt.Sprintf("%d@%d", n%objects, n+3))); err != nil {
						return err
					}
				}
				return s.Flush()
			})
			synctest.Wait()
		}
		if took := time.Since(began); took != patience {
			t.Errorf("the reader has waited for %v", took)
		}
		for _, s := range subs {
			if got := s.Status(); got.Backlog > 2*objects || !got.Merging {
				t.Errorf("%+v", got)
			}
		}
		g.open()
		synctest.Wait()
		stop()
	})
}

// TestRelistMergesForNoHandlerThatKeepsUp has a relist bring 50,000 changed objects. The memory
// that it allocates does not depend on the number of handlers. Each handler gets all changes.
func TestRelistMergesForNoHandlerThatKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 50_000
		versions := [][]object.Object{someObjects(objects, 1), someObjects(objects, 100_000), someObjects(objects, 200_000)}
		relist := func(handlers int) int64 {
			r := newRig(t)
			defer r.start()()
			say := func(n int) {
				r.reader.do(func(s *intake.Sink) error {
					if err := s.BeginReplace(); err != nil {
						return err
					}
					for _, obj := range versions[n] {
						if err := s.Replace(obj); err != nil {
							return err
						}
					}
					return s.EndReplace(strconv.Itoa(n + 1))
				})
				synctest.Wait()
			}
			say(0)
			counts := make([]*counter, handlers)
			for n := range counts {
				counts[n] = count(2 * objects)
				r.add(counts[n], lately)
			}
			synctest.Wait()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			say(1)
			runtime.ReadMemStats(&after)
			for n, c := range counts {
				if !outcome.Closed(c.done) {
					t.Errorf("handler %d was called %d times too few", n, c.left)
				}
			}
			return int64(after.TotalAlloc - before.TotalAlloc)
		}
		one, ten := relist(1), relist(10)
		// the queue's slices vary by some bytes for each; merging takes hundreds for each and
		// handler
		if ten > one+20*objects {
			t.Errorf("a relist allocates %d bytes with one handler, %d with ten", one, ten)
		}
	})
}

// TestRelistForALaggardIsMerged has a second relist bring its differences while a handler has not
// taken those of the first: they are merged, and the reader does not wait for the handler.
func TestRelistForALaggardIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 2 * atOnce
		r := newRig(t)
		h := newPaced(t, 0)
		s := r.add(h, fanout.HandlerConfig{Threshold: atOnce})
		stop := r.start()
		full := func(version int) string {
			var text strings.Builder
			for n := range objects {
				fmt.Fprintf(&text, "=%d@%d ", n, version)
			}
			return fmt.Sprintf("[ %s]@%d", text.String(), version)
		}
		r.feed(full(1))
		h.take()
		h.each.Store(int64(time.Second))
		began := time.Now()
		r.feed(full(2))
		if got := s.Status(); got.Merging || got.Backlog != objects-1 {
			t.Errorf("after the first relist: %+v", got)
		}
		r.feed(full(3))
		if got := s.Status(); !got.Merging || got.Backlog != objects {
			t.Errorf("after the second relist: %+v", got)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the reader has waited for %v", took)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		h.agrees(r)
		if got := strings.Count(h.take(), "~"); got != 1+objects {
			t.Errorf("%d events", got)
		}
		stop()
	})
}

// TestNothingWaitsForInitialObjects delivers initial objects to handlers while events come. The
// loop does not wait for a handler that still lacks some of them.
func TestNothingWaitsForInitialObjects(t *testing.T) {
	for _, test := range []struct{ objects, told int }{{atOnce + 2, 1}, {2, 0}, {2, 1}} {
		bubble(t, fmt.Sprint(test.objects, " ", test.told), func(t *testing.T) {
			r := newRig(t)
			stop := r.start()
			var full strings.Builder
			for n := range test.objects {
				fmt.Fprintf(&full, "=%d@1 ", n)
			}
			r.feed("[ " + full.String() + "]@1")
			h := newPaced(t, time.Second)
			s := r.add(h, fanout.HandlerConfig{Threshold: atOnce})
			time.Sleep(time.Duration(test.told)*time.Second + time.Second/2)
			began := time.Now()
			for version := 2; version < 500; version++ {
				r.tell(0, fmt.Sprintf("~0@%d", version))
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("the reader has waited for %v", took)
			}
			synctest.Wait()
			if got := s.Status(); !got.Merging || got.Backlog > test.objects {
				t.Errorf("%+v", got)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := strings.Fields(h.take()); len(got) > test.objects+1 {
				t.Errorf("told %q", got)
			}
			h.agrees(r)
			stop()
		})
	}
}

// TestReaderGoesOnWhenTheHandlerGoes removes a handler that the reader waits for, and ends the run
// while it waits for one.
func TestReaderGoesOnWhenTheHandlerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := newGate()
		defer g.open()
		s, other := r.add(standing{g}, fanout.HandlerConfig{Threshold: atOnce}), r.add(standing{g}, fanout.HandlerConfig{Threshold: 2 * atOnce})
		l := r.acquire(t.Context())
		r.feed("[ ]@1")
		version := 1
		fill := func(n int) {
			for range n {
				version++
				r.feed(fmt.Sprintf("+%d@%d", version, version))
			}
		}
		began := time.Now()
		fill(1 + atOnce + 1) // the first is told
		go s.Remove()
		fill(atOnce)
		if got := other.Status(); got.Merging || got.Backlog <= 2*atOnce {
			t.Errorf("%+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = l.Release(ctx)
		synctest.Wait()
		if took := time.Since(began); took > 0 {
			t.Errorf("the reader has waited for %v", took)
		}
		r.holds(version-1, fmt.Sprint(version))
	})
}
