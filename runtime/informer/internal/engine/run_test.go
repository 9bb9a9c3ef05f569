// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestRunAgainDeliversTheDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		s := r.add(h, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 =b@2 ]@5")
		if err := r.Run(t.Context()); err != ErrRunning {
			t.Errorf("Run while running: %v", err)
		}
		stop()
		h.wantEvents("=a@1 =b@2")
		between := newRecorder(t)
		r.add(between, handlerConfig)
		if !s.HasSynced() {
			t.Error("the handler is no longer synced after the run")
		}

		stop = r.start()
		between.wantEvents("=a@1 =b@2")
		r.feed("[ =a@1 =c@7 ]@9")
		h.wantEvents("-b@2? +c@7")
		between.wantEvents("-b@2? +c@7")
		r.feed("[ =x@10")
		stop()

		stop = r.start()
		r.feed("[ =a@1 ]@11")
		h.wantEvents("-c@7?")
		h.wantTable(r)
		stop()
	})
}

// TestBacklogSurvivesTheEnd stops an informer while events wait for its handlers, in a replay, in
// the log and in a merged backlog.
func TestBacklogSurvivesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		replaying, logged, merged := newRecorder(t), newRecorder(t), newRecorder(t)
		r.add(logged, handlerConfig)
		r.add(merged, fanout.HandlerConfig{Threshold: 0})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		r.feed("[ =a@1 =b@2 =c@3 ]@5")
		logged.take()
		merged.take()
		g := newGate()
		replaying.before, logged.before, merged.before = g.wait, g.wait, g.wait
		r.add(replaying, handlerConfig)
		synctest.Wait()
		for _, word := range []string{"~a@6", "~a@7", "~a@8", "+d@9"} {
			r.feed(word)
		}
		cancel(errStop)
		synctest.Wait()
		select {
		case <-done:
			t.Error("Run has returned during callbacks")
		default:
		}
		if lines := strings.Join(r.Obstacles(), "\n"); strings.Count(lines, "has not returned from On") != 3 || !strings.Contains(lines, `things: handler "recorder" has not returned from OnUpdate of ns/a for 0s`) {
			t.Errorf("Obstacles() = %s", lines)
		}
		g.open()
		if err := <-done; err != errStop {
			t.Errorf("Run returned %v", err)
		}
		replaying.wantEvents("=a@1")
		logged.wantEvents("~a@6")
		merged.wantEvents("~a@6")

		defer r.start()()
		synctest.Wait()
		replaying.wantEvents("=b@2 =c@3 ~a@6 ~a@7 ~a@8 +d@9")
		logged.wantEvents("~a@7 ~a@8 +d@9")
		merged.wantEvents("~a@8 +d@9")
		replaying.wantTable(r)
	})
}

// noContext is a nil context, which is an error.
var noContext context.Context

func TestRunReturnsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if err := r.Run(noContext); err == nil || err.Error() != "Run: the context is nil" {
			t.Errorf("Run(nil) = %v", err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		broken := errors.New("broken")
		r.reader.steps <- func(*intake.Sink) error { return broken }
		if err := <-done; err != broken {
			t.Errorf("Run() = %v, want the reflector's error", err)
		}

		why := errors.New("why")
		b := Broken("things", why)
		_, addErr := b.AddHandler(newRecorder(t), handlerConfig)
		for call, err := range map[string]error{
			"Run": b.Run(t.Context()), "AddHandler": addErr, "AddIndexes": b.AddIndexes(), "WaitForCacheSync": WaitForCacheSync(t.Context(), nil, Wait{Informer: b}),
			"AwaitResourceVersion": b.AwaitResourceVersion(t.Context(), "1"), "Status": b.Streams()[0].Reflector.LastError,
		} {
			if err != why {
				t.Errorf("%s of a broken informer: %v", call, err)
			}
		}
		if b.Table().Version().Len() != 0 || b.HasSynced() {
			t.Error("a broken informer has objects, or has synced")
		}
	})
}

// TestCancelledInEveryPhase cancels runs in each phase of a stream. goleak and the bubble find
// goroutines that don't end.
func TestCancelledInEveryPhase(t *testing.T) {
	for _, phase := range []string{"", "[", "[ =a@1", "[ =a@1 !", "[ =a@1 ]@2", "[ =a@1 ]@2 ~a@3", "[ =a@1 ]@2 [ =b@3", "|@3"} {
		bubble(t, phase, func(t *testing.T) {
			r := newRig(t)
			h := newRecorder(t)
			r.add(h, fanout.HandlerConfig{Resync: time.Second, Threshold: 1024})
			stop := r.start()
			r.feed(phase)
			stop()
			stored := r.stored()
			if r.Running() || r.intake.Queued() != 0 {
				t.Errorf("Running() = %v, Queued() = %d after the end", r.Running(), r.intake.Queued())
			}
			defer r.start()()
			r.wantStored(stored)
			r.feed("[ =z@8 ]@9")
			r.wantStored("z@8 at 9")
			h.wantTable(r)
		})
	}
	bubble(t, "before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		if err := newRig(t).Run(ctx); err != errStop {
			t.Errorf("Run with a done context = %v, want its cause", err)
		}
	})
	bubble(t, "while the queue is full", func(t *testing.T) {
		g := newGate()
		r := newRig(t, store.NewIndex("Slow", func(_ object.Object, keys []string) []string {
			g.wait("")
			return keys
		}))
		stop := r.start()
		full := make(chan error, 1)
		r.feed("[ ]@0 +a@1") // the loop is in the index function
		r.reader.steps <- func(s *intake.Sink) error {
			for {
				if err := s.Bookmark("1"); err != nil {
					full <- err
					return nil
				}
			}
		}
		synctest.Wait()
		if n := r.intake.Queued(); n != deltafifo.DefaultCapacity {
			t.Errorf("Queued() = %d, want %d", n, deltafifo.DefaultCapacity)
		}
		go g.open()
		stop()
		if err := <-full; err != deltafifo.ErrClosed {
			t.Errorf("the blocked reader got %v, want ErrClosed", err)
		}
	})
}

func TestWaitForCacheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newRig(t), newRig(t)
		waits := []Wait{{Informer: a.Informer}, {Informer: b.Informer}}
		var logged strings.Builder
		ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged))))
		ctx, cancel := context.WithTimeoutCause(ctx, 25*time.Second, errStop)
		defer cancel()
		err := WaitForCacheSync(ctx, nil, waits...)
		if lines := strings.Split(logged.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "things is not running") {
			t.Errorf("lines logged in 25 s: %q, want 2", lines)
		}
		if want := "2 of 2 informers not synced after 25s (the test stops the informer): things is not running; things is not running"; !errors.Is(err, errStop) || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		defer a.start()()
		stop := b.start()
		a.feed("[ ]@1")
		ended := make(chan struct{})
		waits[1].Ended = ended
		go func() {
			time.Sleep(time.Second)
			stop()
			close(ended)
		}()
		err = WaitForCacheSync(t.Context(), nil, waits...)
		if want := "1 of 2 informers not synced after 1s: things is not running"; err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		defer b.start()()
		done := make(chan error)
		go func() {
			done <- WaitForCacheSync(t.Context(), nil, Wait{Informer: a.Informer}, Wait{Informer: b.Informer})
		}()
		synctest.Wait()
		b.feed("[ ]@1")
		if err := <-done; err != nil {
			t.Error(err)
		}
		cancel()
		if err := WaitForCacheSync(ctx, nil, waits...); err != nil {
			t.Errorf("WaitForCacheSync of synced informers, with a done context: %v", err)
		}
	})
}

func TestAwaitResourceVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		var returned []string
		await := func(rv string) {
			go func() {
				if err := r.AwaitResourceVersion(t.Context(), rv); err != nil {
					t.Error(err)
				}
				returned = append(returned, rv)
			}()
			synctest.Wait()
		}
		expect := func(want string) {
			t.Helper()
			if got := strings.Join(returned, " "); got != want {
				t.Errorf("returned: %q, want %q", got, want)
			}
		}
		await("100")
		await("9")
		await("20")
		r.feed("[ =a@9 =b@30")
		expect("")
		r.feed("]@10")
		expect("9")
		await("10")
		expect("9 10")
		r.feed("-a@19 |@21")
		expect("9 10 20")
		r.feed("~b@1000")
		expect("9 10 20 100")

		if err := r.AwaitResourceVersion(t.Context(), "yesterday"); err == nil || !strings.Contains(err.Error(), `"yesterday"`) {
			t.Errorf("AwaitResourceVersion(yesterday) = %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errStop)
		defer cancel()
		err := r.AwaitResourceVersion(ctx, "2000")
		if want := `informer things: awaiting resourceVersion "2000": the store is at resourceVersion "1000": the test stops the informer`; !errors.Is(err, errStop) || err.Error() != want {
			t.Errorf("AwaitResourceVersion() = %v, want %s", err, want)
		}
		if len(r.waiters.versions) != 0 {
			t.Errorf("%d waiters left, want 0", len(r.waiters.versions))
		}
	})
}
