// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"k8s.io/klog/v2/textlogger"
)

// stuckLines collects the lines about callbacks that do not return, with the time that has passed.
type stuckLines struct {
	exits bool // the logger ends the goroutine

	mu    sync.Mutex // guards what follows
	began time.Time
	lines []string
}

func (l *stuckLines) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
}

func (l *stuckLines) Write(p []byte) (int, error) {
	text := string(p)
	if _, line, ok := strings.Cut(text, `"A handler has not returned" `); ok {
		l.mu.Lock()
		l.lines = append(l.lines, fmt.Sprintf("%v: %s", time.Since(l.began), strings.TrimSpace(line)))
		l.mu.Unlock()
		if l.exits {
			runtime.Goexit()
		}
	}
	return len(p), nil
}

func (l *stuckLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func loggedTo(w io.Writer) Config {
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w)))
	return Config{Logger: &logger}
}

// TestStuckHandlerIsLogged has a handler that does not return: from an update, a deletion and an
// initial event. After 30 s, and then each 5 min, a line names it. No line
// follows once it has returned.
func TestStuckHandlerIsLogged(t *testing.T) {
	for _, test := range []struct{ name, before, then, callback, key string }{
		{"handed over", "[ =a@1 ]@1", "~a@2", "OnUpdate", "a"},
		{"of the log", "[ =a@1 =b@1 ]@1", "[ =b@2 ]@2", "OnDelete", "a"},
		{"initial", "", "[ =a@1 ]@1", "OnAdd", "a"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			lines := &stuckLines{}
			r := newRigOf(t, loggedTo(lines), "")
			h, quick, g := record(t), record(t), newGate()
			s := r.add(h, fanout.HandlerConfig{Name: "billing", Threshold: 1024})
			r.add(quick, lately)
			stop := r.start()
			r.feed(test.before)
			time.Sleep(time.Hour)
			lines.begin()
			h.before = g.wait
			r.feed(test.then)
			time.Sleep(stuckAfter - 1)
			if got := lines.take(); got != nil {
				t.Errorf("logged too early: %q", got)
			}
			time.Sleep(11 * time.Minute)
			if status := s.Status(); status.Callback != test.callback || status.Key.Name != test.key {
				t.Errorf("%+v", status)
			}
			var want []string
			for n := range 3 {
				at := stuckAfter + time.Duration(n)*stuckAgain
				want = append(want, fmt.Sprintf(`%v: informer="things" handler="billing" callback=%q key="ns/%s" duration=%q`,
					at, test.callback, test.key, at))
			}
			if got := lines.take(); !slices.Equal(got, want) {
				t.Errorf("logged %q, want %q", got, want)
			}
			g.open()
			time.Sleep(time.Hour)
			if got := lines.take(); got != nil {
				t.Errorf("logged %q", got)
			}
			stop()
		})
	}
}

// TestStuckIsNamedWhenRemovedOrEnding has a handler not return that was removed, or whose informer
// is ending: it is logged, and the error of Release names it.
func TestStuckIsNamedWhenRemovedOrEnding(t *testing.T) {
	for _, how := range []string{"removed", "ending", "both"} {
		bubble(t, how, func(t *testing.T) {
			lines := &stuckLines{}
			r := newRigOf(t, loggedTo(lines), "")
			h, g := record(t), newGate()
			s := r.add(h, fanout.HandlerConfig{Name: "billing", Threshold: 1024})
			l := r.acquire(t.Context())
			r.feed("[ =a@1 ]@1")
			h.before = g.wait
			r.feed("~a@2 ~a@3")
			lines.begin()
			if how != "ending" {
				go s.Remove()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if how != "removed" {
				err := l.Release(ctx)
				if err == nil || !strings.Contains(err.Error(), `handler "billing" has not returned from OnUpdate of ns/a for 1m0s`) {
					t.Errorf("Release returned %v", err)
				}
			}
			<-ctx.Done()
			synctest.Wait()
			if got := lines.take(); len(got) != 1 || !strings.HasPrefix(got[0], `30s: informer="things" handler="billing" callback="OnUpdate" key="ns/a"`) {
				t.Errorf("logged %q", got)
			}
			g.open()
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if got := r.Handlers(); how == "ending" != (len(got) == 1) {
				t.Errorf("handlers: %+v", got)
			}
			h.sees("=a@1 ~a@2")
		})
	}
}

// TestLoggerEndsItsGoroutine has the logger call runtime.Goexit when it logs a stuck handler: other
// handlers go on.
func TestLoggerEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &stuckLines{exits: true}
		r := newRigOf(t, loggedTo(lines), "")
		h, other, g := record(t), record(t), newGate()
		h.before = g.wait
		r.add(h, lately)
		r.add(other, lately)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		time.Sleep(time.Minute)
		if got := lines.take(); len(got) != 1 {
			t.Errorf("logged %q", got)
		}
		r.feed("~a@2 ~a@3")
		other.sees("=a@1 ~a@2 ~a@3")
		g.open()
		synctest.Wait()
		h.sees("=a@1 ~a@2 ~a@3")
		stop()
	})
}

// TestRemoveContextNamesTheCallback removes a handler that does not return: the call returns when
// its context is done, its error names the callback, and no other callback begins.
func TestRemoveContextNamesTheCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := record(t), newGate()
		s := r.add(h, fanout.HandlerConfig{Name: "billing", Threshold: 1024})
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		var none context.Context
		if err := s.RemoveContext(none); err == nil {
			t.Error("a nil context was taken")
		}
		h.before = g.wait
		r.feed("~a@2 ~a@3")
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errStop)
		defer cancel()
		want := `informer things: RemoveContext: the test stops the informer: things: handler "billing" has not returned from OnUpdate of ns/a for 2s`
		if err := s.RemoveContext(ctx); !errors.Is(err, errStop) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		returned := make(chan error, 1)
		go func() { returned <- s.RemoveContext(t.Context()) }()
		synctest.Wait()
		if len(returned) != 0 {
			t.Error("RemoveContext has not waited for the callback")
		}
		g.open()
		if err := <-returned; err != nil {
			t.Error(err)
		}
		r.feed("~a@4")
		h.sees("=a@1 ~a@2")
		if err := s.RemoveContext(ctx); err != nil {
			t.Errorf("nothing is running: %v", err)
		}
		stop()
	})
}
