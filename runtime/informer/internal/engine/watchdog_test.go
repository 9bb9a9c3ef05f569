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

	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
)

// stuckLog collects the log lines about callbacks that do not return, with the time since begin.
type stuckLog struct {
	goexit bool // Write ends its goroutine

	mu    sync.Mutex // guards the rest
	began time.Time
	lines []string
}

func (l *stuckLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began = time.Now()
}

func (l *stuckLog) Write(p []byte) (int, error) {
	text := string(p)
	if _, line, ok := strings.Cut(text, `"A handler has not returned" `); ok {
		l.mu.Lock()
		l.lines = append(l.lines, fmt.Sprintf("%v: %s", time.Since(l.began), strings.TrimSpace(line)))
		l.mu.Unlock()
		if l.goexit {
			runtime.Goexit()
		}
	}
	return len(p), nil
}

func (l *stuckLog) take() []string {
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

// TestStuckHandlerIsLogged has a handler that does not return from an update, a deletion or an
// initial addition. After 30 s, and then each 5 min, a line names it. No line follows once it has
// returned.
func TestStuckHandlerIsLogged(t *testing.T) {
	for _, test := range []struct{ name, before, then, callback, key string }{
		{"update", "[ =a@1 ]@1", "~a@2", "OnUpdate", "a"},
		{"deletion", "[ =a@1 =b@1 ]@1", "[ =b@2 ]@2", "OnDelete", "a"},
		{"initial addition", "", "[ =a@1 ]@1", "OnAdd", "a"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			lines := &stuckLog{}
			r := newRigOf(t, loggedTo(lines), "")
			h, quick, g := newRecorder(t), newRecorder(t), newGate()
			s := r.add(h, fanout.HandlerConfig{Name: "billing", Threshold: 1024})
			r.add(quick, handlerConfig)
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
				t.Errorf("Status() = %+v, want %s of %s", status, test.callback, test.key)
			}
			var want []string
			for n := range 3 {
				at := stuckAfter + time.Duration(n)*stuckInterval
				want = append(want, fmt.Sprintf(`%v: informer="things" handler="billing" callback=%q key="ns/%s" duration=%q`,
					at, test.callback, test.key, at))
			}
			if got := lines.take(); !slices.Equal(got, want) {
				t.Errorf("logged %q, want %q", got, want)
			}
			g.open()
			time.Sleep(time.Hour)
			if got := lines.take(); got != nil {
				t.Errorf("logged after the return: %q", got)
			}
			stop()
		})
	}
}

// TestStuckHandlerIsNamedWhenRemovedOrEnding has a handler that does not return, was removed, or
// whose informer is ending. A log line names it, and so does the error of Release.
func TestStuckHandlerIsNamedWhenRemovedOrEnding(t *testing.T) {
	for _, how := range []string{"removed", "ending", "both"} {
		bubble(t, how, func(t *testing.T) {
			lines := &stuckLog{}
			r := newRigOf(t, loggedTo(lines), "")
			h, g := newRecorder(t), newGate()
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
					t.Errorf("Release() = %v, want the stuck callback", err)
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
			h.wantEvents("=a@1 ~a@2")
		})
	}
}

// TestLoggerGoexit has the logger call runtime.Goexit when it logs a stuck handler. Other handlers
// still get their events.
func TestLoggerGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := &stuckLog{goexit: true}
		r := newRigOf(t, loggedTo(lines), "")
		h, other, g := newRecorder(t), newRecorder(t), newGate()
		h.before = g.wait
		r.add(h, handlerConfig)
		r.add(other, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		time.Sleep(time.Minute)
		if got := lines.take(); len(got) != 1 {
			t.Errorf("logged %q", got)
		}
		r.feed("~a@2 ~a@3")
		other.wantEvents("=a@1 ~a@2 ~a@3")
		g.open()
		synctest.Wait()
		h.wantEvents("=a@1 ~a@2 ~a@3")
		stop()
	})
}

// TestRemoveContextNamesTheCallback removes a handler that does not return. RemoveContext returns
// when its context is done, its error names the callback, and no other callback begins.
func TestRemoveContextNamesTheCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, g := newRecorder(t), newGate()
		s := r.add(h, fanout.HandlerConfig{Name: "billing", Threshold: 1024})
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		if err := s.RemoveContext(noContext); err == nil {
			t.Error("RemoveContext(nil) = nil, want an error")
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
			t.Error("RemoveContext has returned during the callback")
		}
		g.open()
		if err := <-returned; err != nil {
			t.Error(err)
		}
		r.feed("~a@4")
		h.wantEvents("=a@1 ~a@2")
		if err := s.RemoveContext(ctx); err != nil {
			t.Errorf("RemoveContext without a running callback: %v", err)
		}
		stop()
	})
}
