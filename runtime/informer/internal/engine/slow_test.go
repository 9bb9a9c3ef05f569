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

// pacedHandler is a recorder whose callbacks take a certain time.
type pacedHandler struct {
	*recorder
	delay atomic.Int64
}

func newPacedHandler(t *testing.T, delay time.Duration) *pacedHandler {
	p := &pacedHandler{recorder: newRecorder(t)}
	p.delay.Store(int64(delay))
	p.before = func(string) { time.Sleep(time.Duration(p.delay.Load())) }
	return p
}

// TestReaderWaitsForQuickHandlers sends far more events than may wait, at once, to handlers of
// several speeds. The reader waits for a quick handler as long as it takes. For a slow handler, and
// for one that does not return, it waits once, until the handler's patience has run out. In either
// case the store and other handlers get every event.
func TestReaderWaitsForQuickHandlers(t *testing.T) {
	const sent, objects = 20_000, 10
	for _, test := range []struct {
		delay       time.Duration // of each callback
		all         bool          // the handler gets every event
		least, most time.Duration // for which the reader waits
	}{
		{quickEvent / 2, true, (sent - 2000) * quickEvent / 2, sent * quickEvent / 2},
		{quickEvent, true, (sent - 2000) * quickEvent, sent * quickEvent},
		{10 * quickEvent, false, patience, patience + 20*quickEvent*2*maxBatch},
		{time.Hour, false, patience, patience + time.Millisecond},
	} {
		bubble(t, test.delay.String(), func(t *testing.T) {
			r := newRig(t)
			h, other := newPacedHandler(t, 0), newRecorder(t)
			s := r.add(h, handlerConfig)
			r.add(other, handlerConfig)
			stop := r.start()
			r.feed("[ =0@1 ]@1")
			h.take()
			other.take()
			h.delay.Store(int64(test.delay))
			began := time.Now()
			version := 1
			send := func(n int) {
				r.reader.do(func(s *intake.Sink) error {
					for range n {
						version++
						if err := s.Update(newObject(fmt.Sprintf("%d@%d", version%objects, version))); err != nil {
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
				t.Errorf("the other handler got %d events, want %d", got, sent)
			}
			if status := s.Status(); status.Merging == test.all || !test.all && status.Backlog > 2*objects {
				t.Errorf("Status() = %+v, all events: %v", status, test.all)
			}
			if !test.all { // the reader waits for it once
				began = time.Now()
				send(sent)
				if took := time.Since(began); took > 0 {
					t.Errorf("the reader has waited %v for a slow handler", took)
				}
			}
			h.delay.Store(0)
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			h.wantTable(r)
			if got := strings.Count(h.take(), " ") + 1; test.all != (got == sent) {
				t.Errorf("the handler got %d of %d events, want all: %v", got, sent, test.all)
			}
			if status := s.Status(); status.Merging || status.Backlog > 0 {
				t.Errorf("Status() after catching up = %+v", status)
			}
			stop()
		})
	}
}

// TestStuckHandlersAreWaitedForTogether has ten handlers that do not return. The reader waits for
// them as long as for one, and only once.
func TestStuckHandlersAreWaitedForTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 5
		r := newRig(t)
		g := newGate()
		var subs []*fanout.Subscription
		for range 10 {
			subs = append(subs, r.add(stuckHandler{g}, handlerConfig))
		}
		stop := r.start()
		r.feed("[ ]@1 +0@2") // each handler is stuck in this addition
		began := time.Now()
		for range 2 {
			r.reader.do(func(s *intake.Sink) error {
				for n := range 10_000 {
					if err := s.Update(newObject(fmt.Sprintf("%d@%d", n%objects, n+3))); err != nil {
						return err
					}
				}
				return s.Flush()
			})
			synctest.Wait()
		}
		if took := time.Since(began); took != patience {
			t.Errorf("the reader has waited for %v, want %v", took, patience)
		}
		for _, s := range subs {
			if got := s.Status(); got.Backlog > 2*objects || !got.Merging {
				t.Errorf("Status() = %+v", got)
			}
		}
		g.open()
		synctest.Wait()
		stop()
	})
}

// TestRelistMergesForNoHandlerThatKeepsUp relists 50,000 changed objects. Each handler gets all
// changes, and the allocated memory does not depend on the number of handlers.
func TestRelistMergesForNoHandlerThatKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 50_000
		versions := [][]object.Object{someObjects(objects, 1), someObjects(objects, 100_000), someObjects(objects, 200_000)}
		relist := func(handlers int) int64 {
			r := newRig(t)
			defer r.start()()
			replace := func(n int) {
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
			replace(0)
			counts := make([]*counter, handlers)
			for n := range counts {
				counts[n] = newCounter(2 * objects)
				r.add(counts[n], handlerConfig)
			}
			synctest.Wait()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			replace(1)
			runtime.ReadMemStats(&after)
			for n, c := range counts {
				if !outcome.Closed(c.done) {
					t.Errorf("handler %d lacks %d calls", n, c.left)
				}
			}
			return int64(after.TotalAlloc - before.TotalAlloc)
		}
		one, ten := relist(1), relist(10)
		// The queue's slices vary by some bytes for each object. Merging takes hundreds for each
		// object and handler.
		if ten > one+20*objects {
			t.Errorf("a relist allocates %d bytes with one handler, %d with ten", one, ten)
		}
	})
}

// TestRelistForALaggardIsMerged relists a second time before a handler has got the differences of
// the first. They are merged, and the reader does not wait for the handler.
func TestRelistForALaggardIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 2 * maxBatch
		r := newRig(t)
		h := newPacedHandler(t, 0)
		s := r.add(h, fanout.HandlerConfig{Threshold: maxBatch})
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
		h.delay.Store(int64(time.Second))
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
		h.wantTable(r)
		if got := strings.Count(h.take(), "~"); got != 1+objects {
			t.Errorf("the handler got %d updates, want %d", got, 1+objects)
		}
		stop()
	})
}

// TestNothingWaitsForInitialObjects delivers initial objects to a handler while events come. The
// loop does not wait for a handler that still lacks initial objects.
func TestNothingWaitsForInitialObjects(t *testing.T) {
	for _, test := range []struct{ objects, delivered int }{{maxBatch + 2, 1}, {2, 0}, {2, 1}} {
		bubble(t, fmt.Sprint(test.objects, " ", test.delivered), func(t *testing.T) {
			r := newRig(t)
			stop := r.start()
			var full strings.Builder
			for n := range test.objects {
				fmt.Fprintf(&full, "=%d@1 ", n)
			}
			r.feed("[ " + full.String() + "]@1")
			h := newPacedHandler(t, time.Second)
			s := r.add(h, fanout.HandlerConfig{Threshold: maxBatch})
			time.Sleep(time.Duration(test.delivered)*time.Second + time.Second/2)
			began := time.Now()
			for version := 2; version < 500; version++ {
				r.sendTo(0, fmt.Sprintf("~0@%d", version))
			}
			if took := time.Since(began); took != 0 {
				t.Errorf("the reader has waited for %v", took)
			}
			synctest.Wait()
			if got := s.Status(); !got.Merging || got.Backlog > test.objects {
				t.Errorf("Status() = %+v", got)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := strings.Fields(h.take()); len(got) > test.objects+1 {
				t.Errorf("the handler got %q, want at most %d events", got, test.objects+1)
			}
			h.wantTable(r)
			stop()
		})
	}
}

// TestReaderContinuesWhenItsHandlerIsRemoved removes a handler while the reader waits for it, and
// ends the run while the reader waits for another.
func TestReaderContinuesWhenItsHandlerIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := newGate()
		defer g.open()
		s, other := r.add(stuckHandler{g}, fanout.HandlerConfig{Threshold: maxBatch}), r.add(stuckHandler{g}, fanout.HandlerConfig{Threshold: 2 * maxBatch})
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
		fill(1 + maxBatch + 1) // the first event is in its callback
		go s.Remove()
		fill(maxBatch)
		if got := other.Status(); got.Merging || got.Backlog <= 2*maxBatch {
			t.Errorf("Status() = %+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = l.Release(ctx)
		synctest.Wait()
		if took := time.Since(began); took > 0 {
			t.Errorf("the reader has waited for %v", took)
		}
		r.wantObjects(version-1, fmt.Sprint(version))
	})
}
