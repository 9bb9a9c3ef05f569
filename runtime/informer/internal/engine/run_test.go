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
		h := record(t)
		s := r.add(h, lately)
		stop := r.start()
		r.feed("[ =a@1 =b@2 ]@5")
		if err := r.Run(t.Context()); err != ErrRunning {
			t.Errorf("Run while running: %v", err)
		}
		stop()
		h.sees("=a@1 =b@2")
		between := record(t)
		r.add(between, lately)
		if s.HasSynced() != true {
			t.Error("what has synced stays synced")
		}

		stop = r.start()
		between.sees("=a@1 =b@2")
		r.feed("[ =a@1 =c@7 ]@9")
		h.sees("-b@2? +c@7")
		between.sees("-b@2? +c@7")
		r.feed("[ =x@10")
		stop()

		stop = r.start()
		r.feed("[ =a@1 ]@11")
		h.sees("-c@7?")
		h.agrees(r)
		stop()
	})
}

// TestBacklogSurvivesTheEnd stops an informer while events wait for its handlers: in a replay, in
// the log and in a merged backlog.
func TestBacklogSurvivesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		replaying, logged, merged := record(t), record(t), record(t)
		r.add(logged, lately)
		r.add(merged, fanout.HandlerConfig{Threshold: 0})
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		r.feed("[ =a@1 =b@2 =c@3 ]@5")
		logged.take()
		merged.take()
		g := newGate()
		replaying.before, logged.before, merged.before = g.wait, g.wait, g.wait
		r.add(replaying, lately)
		synctest.Wait()
		for _, word := range []string{"~a@6", "~a@7", "~a@8", "+d@9"} {
			r.feed(word)
		}
		cancel(errStop)
		synctest.Wait()
		select {
		case <-done:
			t.Error("Run returned while callbacks run")
		default:
		}
		if lines := strings.Join(r.Running(), "\n"); strings.Count(lines, "has not returned from On") != 3 || !strings.Contains(lines, `things: handler "recorder" has not returned from OnUpdate of ns/a for 0s`) {
			t.Errorf("what keeps it running: %s", lines)
		}
		g.open()
		if err := <-done; err != errStop {
			t.Errorf("Run returned %v", err)
		}
		replaying.sees("=a@1")
		logged.sees("~a@6")
		merged.sees("~a@6")

		defer r.start()()
		synctest.Wait()
		replaying.sees("=b@2 =c@3 ~a@6 ~a@7 ~a@8 +d@9")
		logged.sees("~a@7 ~a@8 +d@9")
		merged.sees("~a@8 +d@9")
		replaying.agrees(r)
	})
}

// noContext is a nil context, which is an error.
var noContext context.Context

func TestRunReturnsWhatEndedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if err := r.Run(noContext); err == nil || err.Error() != "Run: the context is nil" {
			t.Errorf("got %v", err)
		}
		done := make(chan error)
		go func() { done <- r.Run(t.Context()) }()
		broken := errors.New("broken")
		r.reader.steps <- func(*intake.Sink) error { return broken }
		if err := <-done; err != broken {
			t.Errorf("Run returned %v, not the error of the reflector", err)
		}

		why := errors.New("why")
		b := Broken("things", why)
		_, addErr := b.AddHandler(record(t), lately)
		for call, err := range map[string]error{
			"Run": b.Run(t.Context()), "AddHandler": addErr, "AddIndexes": b.AddIndexes(), "WaitForCacheSync": WaitForCacheSync(t.Context(), nil, Wait{Informer: b}),
			"AwaitResourceVersion": b.AwaitResourceVersion(t.Context(), "1"), "Status": b.Streams()[0].Reflector.LastError,
		} {
			if err != why {
				t.Errorf("%s of a broken informer: %v", call, err)
			}
		}
		if b.Table().Version().Len() != 0 || b.HasSynced() {
			t.Error("a broken informer is not empty")
		}
	})
}

// TestCancelledInEveryPhase fails by goleak, or by the bubble, if a goroutine doesn't end.
func TestCancelledInEveryPhase(t *testing.T) {
	for _, phase := range []string{"", "[", "[ =a@1", "[ =a@1 !", "[ =a@1 ]@2", "[ =a@1 ]@2 ~a@3", "[ =a@1 ]@2 [ =b@3", "|@3"} {
		bubble(t, phase, func(t *testing.T) {
			r := newRig(t)
			h := record(t)
			r.add(h, fanout.HandlerConfig{Resync: time.Second, Threshold: 1024})
			stop := r.start()
			r.feed(phase)
			stop()
			stored := r.stored()
			if r.Claimed() || r.intake.Queued() != 0 {
				t.Error("something is left open")
			}
			defer r.start()()
			r.want(stored)
			r.feed("[ =z@8 ]@9")
			r.want("z@8 at 9")
			h.agrees(r)
		})
	}
	bubble(t, "before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		if err := newRig(t).Run(ctx); err != errStop {
			t.Errorf("got %v", err)
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
		r.feed("[ ]@0 +a@1") // the writer stands
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
			t.Errorf("%d deltas wait", n)
		}
		go g.open()
		stop()
		if err := <-full; err != deltafifo.ErrClosed {
			t.Errorf("the blocked reader got %v", err)
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
			t.Errorf("logged in 25 s: %q", lines)
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
			t.Errorf("what has synced is more than a context that is done: %v", err)
		}
	})
}

func TestAwaitResourceVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		var arrived []string
		await := func(rv string) {
			go func() {
				if err := r.AwaitResourceVersion(t.Context(), rv); err != nil {
					t.Error(err)
				}
				arrived = append(arrived, rv)
			}()
			synctest.Wait()
		}
		expect := func(want string) {
			t.Helper()
			if got := strings.Join(arrived, " "); got != want {
				t.Errorf("arrived: %q, want %q", got, want)
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
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errStop)
		defer cancel()
		err := r.AwaitResourceVersion(ctx, "2000")
		if want := `informer things: awaiting resourceVersion "2000": the store stands at "1000": the test stops the informer`; !errors.Is(err, errStop) || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if len(r.awaits.versions) != 0 {
			t.Errorf("%d waiters left", len(r.awaits.versions))
		}
	})
}
