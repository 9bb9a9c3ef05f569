// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// answers makes every request fail with an error, unless it is nil: the resource then has one
// object, and watches stay open until end is called. A resource that is made again has no history.
type answers struct {
	err     atomic.Pointer[error]
	version atomic.Pointer[string] // the resourceVersion of the resource's creation
	end     func()
}

// exist makes the resource.
func (a *answers) exist(version string) {
	a.version.Store(&version)
	a.set(nil)
}

func (a *answers) set(err error) { a.err.Store(&err) }

func (a *answers) source() *fake {
	src := &fake{list: func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		if err := *a.err.Load(); err != nil {
			return source.ListResult{}, err
		}
		return listOf(*a.version.Load(), newThing("a", "3"))(n, opts, item)
	}}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if err := *a.err.Load(); err != nil {
			return err
		}
		opened()
		version := *a.version.Load()
		if opts.SendInitialEvents {
			if err := send(event, ev(source.Added, "a", "3"), bookmark(version, true)); err != nil {
				return err
			}
		} else if opts.ResourceVersion != version {
			return statusError(410, 0)
		}
		ctx, a.end = context.WithCancel(ctx)
		<-ctx.Done()
		return nil
	}
	return src
}

// optional is a config without a random part of waits, whose log goes to the buffer.
func optional(log *logBuffer, lists bool) Config[thing] {
	return Config[thing]{
		Optional: true,
		Logger:   textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(log))),
		Tuning:   Tuning{DisableWatchList: lists, SilenceTimeout: 24 * time.Hour, Backoff: Backoff{Jitter: -1}},
	}
}

// TestOptionalResource: the resource doesn't exist, then it does, then it is deleted and made
// again.
func TestOptionalResource(t *testing.T) {
	for name, lists := range map[string]bool{"watch-lists": false, "lists": true} {
		t.Run(name, func(t *testing.T) {
			a, log := &answers{}, &logBuffer{}
			a.set(statusError(404, 0))
			bubble(t, a.source(), optional(log, lists), func(g *rig) {
				wantAbsent := func(synced bool, since time.Time) {
					t.Helper()
					s := g.Status()
					if s.State != StateAbsent || s.Synced != synced || s.Reason != reason.None || s.Attempts != 0 || s.LastError != nil || !s.Since.Equal(since) || len(g.errs) != 0 {
						t.Errorf("Status() = %+v, errors %v; want absent since %v without an error", s, g.errs, since)
					}
					if until := time.Until(s.RetryAt); until <= 0 || until > 30*time.Second {
						t.Errorf("asks again in %v, want up to 30 s", until)
					}
				}
				g.pass(time.Minute - 1)
				wantAbsent(false, g.start)
				if n := len(g.src.requests()); n != 2 {
					t.Errorf("%d requests in a minute, want 2: %q", n, g.src.requests())
				}
				g.wantSinkCalls("begin, abort, begin, abort")

				a.exist("5")
				g.pass(30 * time.Second)
				if s := g.Status(); s.State != StateWatching || !s.Synced {
					t.Errorf("Status() = %+v, want watching", s)
				}
				g.wantContent("a@3")

				a.set(statusError(404, 0))
				a.end()
				deleted := time.Now()
				g.pass(time.Hour)
				wantAbsent(true, deleted)
				g.wantContent("a@3") // the server has sent no deletion

				a.exist("9")
				g.pass(30 * time.Second)
				if s := g.Status(); s.State != StateWatching || !s.Synced || s.LastError != nil || len(g.errs) != 0 {
					t.Errorf("Status() = %+v, errors %v; want watching", s, g.errs)
				}
			})
			if text := log.String(); strings.Count(text, "The server does not have the resource; will wait for it") != 2 ||
				strings.Count(text, "The server has the resource now") != 2 || strings.Count(text, "\n") != 4 {
				t.Errorf("the log has\n%s", text)
			}
		})
	}
}

// TestFailuresWhileAbsent: failures that say nothing about the resource are reported, but leave it
// absent; others show that it exists.
func TestFailuresWhileAbsent(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		why   reason.Reason
		state State
	}{
		"unreachable": {errors.New("connection refused"), reason.Unreachable, StateAbsent},
		"forbidden":   {statusError(403, 0), reason.Forbidden, StateAbsent},
		"5xx":         {errBusy, reason.ServerError, StateAbsent},
		"refused":     {statusError(400, 0), reason.Refused, StateWaiting},
		"bad data":    {&source.DecodeError{Err: source.ErrMalformed}, reason.BadData, StateWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{}
			a.set(statusError(404, 0))
			bubble(t, a.source(), optional(&logBuffer{}, false), func(g *rig) {
				a.set(tc.err)
				g.pass(time.Minute)
				if s := g.Status(); s.State != tc.state || s.Reason != tc.why || s.Attempts < 2 || len(g.errs) < 2 || !s.RetryAt.After(time.Now()) {
					t.Errorf("Status() = %+v with %d errors, want %v", s, len(g.errs), tc.state)
				}
				a.set(statusError(404, 0))
				g.pass(time.Minute)
				if s := g.Status(); s.State != StateAbsent || s.Reason != reason.None || s.Attempts != 0 {
					t.Errorf("Status() = %+v, want absent without a failure", s)
				}
				a.exist("5")
				g.pass(30 * time.Second)
				if s := g.Status(); s.State != StateWatching || !s.Synced {
					t.Errorf("Status() = %+v, want watching", s)
				}
			})
		})
	}
}

// TestAbsentResourceObeysRetryAfter: the server asks for a longer wait.
func TestAbsentResourceObeysRetryAfter(t *testing.T) {
	a := &answers{}
	a.set(statusError(404, 120))
	bubble(t, a.source(), optional(&logBuffer{}, false), func(g *rig) {
		if until := time.Until(g.Status().RetryAt); until < 2*time.Minute || until > 133*time.Second {
			t.Errorf("asks again in %v, want about 2 minutes", until)
		}
	})
}
