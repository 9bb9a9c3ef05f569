// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

func TestOutageBacksOffToMax(t *testing.T) {
	o := retry(t, "5", 10*time.Minute+time.Second, steady, scriptedWatch{refuse: io.ErrUnexpectedEOF})
	want := []time.Duration{0, 800, 1600, 3200, 6400, 12800, 25600}
	for i, gap := range o.gaps(o.start) {
		w := 30 * time.Second
		if i < len(want) {
			w = want[i] * time.Millisecond
		}
		if gap != w {
			t.Fatalf("wait %d is %v, want %v", i, gap, w)
		}
	}
	if !errors.Is(o.err, context.DeadlineExceeded) || !errors.Is(o.err, io.ErrUnexpectedEOF) || len(o.failed) < 20 {
		t.Errorf("Retry() = %v after %d failures", o.err, len(o.failed))
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	busy := apierrors.NewTooManyRequests("later", 7)
	o := retry(t, "5", time.Minute, steady, scriptedWatch{refuse: busy}, scriptedWatch{ends: true, err: busy})
	for _, gap := range o.gaps(o.start)[1:] {
		if gap < 7*time.Second || gap > 7700*time.Millisecond {
			t.Errorf("a wait of %v, want 7s to 7.7s", gap)
		}
	}
	if len(o.versions) < 7 {
		t.Errorf("%d watches in a minute, want at least 7", len(o.versions))
	}
}

// TestEndedWatchIsOpenedAgain: there is no wait after a normal end, but there are waits if a server
// ends every watch at once.
func TestEndedWatchIsOpenedAgain(t *testing.T) {
	o := retry(t, "5", 5500*time.Millisecond, steady, scriptedWatch{ends: true, after: time.Second})
	if len(o.versions) != 6 || len(o.failed) != 0 {
		t.Errorf("watches of a second: %d watches, failures %v, want 6 and none", len(o.versions), o.failed)
	}
	for name, brings := range map[string][]source.Event[thing]{"nothing": nil, "something": added(5)} {
		o := retry(t, "5", 10*time.Minute, steady, scriptedWatch{ends: true, events: brings, raw: true})
		if n := len(o.versions); n > 40 || reason.Of(o.failed[0]) != reason.ShortWatch {
			t.Errorf("watches with %s: %d in ten minutes, first failure %v", name, n, o.failed[0])
		}
	}
}

func TestBackoffIsResetByAHealthyWatchOnly(t *testing.T) {
	broken := errors.New("reset by peer")
	lasting := func(d time.Duration) scriptedWatch { return scriptedWatch{ends: true, after: d, err: broken} }
	o := retry(t, "5", 20*time.Minute, steady, scriptedWatch{refuse: broken}, scriptedWatch{refuse: broken}, lasting(119*time.Second), lasting(2*time.Minute), scriptedWatch{})
	gaps := o.gaps(o.start)
	for i, want := range []time.Duration{0, 800 * time.Millisecond, 1600 * time.Millisecond, 119*time.Second + 3200*time.Millisecond, 2*time.Minute + 800*time.Millisecond} {
		if gaps[i] != want {
			t.Errorf("the wait before watch %d is %v, want %v", i+1, gaps[i], want)
		}
	}
}

// TestSilentConnectionIsReplaced: a silent connection is replaced at once if it was open, and after
// a wait if it had no answer.
func TestSilentConnectionIsReplaced(t *testing.T) {
	opts := steady
	opts.SilenceTimeout = time.Minute
	opts.Backoff.ResetAfter = time.Minute
	o := retry(t, "5", 10*time.Minute, opts, scriptedWatch{events: added(6)}, scriptedWatch{}, scriptedWatch{silent: true}, scriptedWatch{events: added(7)})
	gaps := o.gaps(o.start)
	for i, want := range []time.Duration{0, time.Minute, time.Minute, time.Minute + 800*time.Millisecond} {
		if gaps[i] != want {
			t.Errorf("the wait before watch %d is %v, want %v", i+1, gaps[i], want)
		}
	}
	if o.seen != "ADDED 6, ADDED 7" || reason.Of(o.failed[2]) != reason.Silent {
		t.Errorf("events %s, failures %v", o.seen, o.failed)
	}
	o = retry(t, "5", 10*time.Minute, opts, scriptedWatch{silent: true}, scriptedWatch{})
	if got := o.gaps(o.start)[1]; got != time.Minute+800*time.Millisecond {
		t.Errorf("the watch after one without an answer begins after %v, want 1m0.8s", got)
	}
}

func TestBusyCallbackIsNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Minute)
		defer cancel()
		w := &fakeSource{watches: []scriptedWatch{{events: added(6, 7, 8)}}}
		err := watch.Retry(ctx, w, "5", watch.Options{}, func(source.Event[thing]) error {
			time.Sleep(10 * time.Minute)
			return nil
		})
		if len(w.versions) != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Retry() = %v with watches from %v", err, w.versions)
		}
	})
}

func TestBookmarksMoveTheVersion(t *testing.T) {
	o := retry(t, "5", 3*time.Second, steady,
		scriptedWatch{events: []source.Event[thing]{ev(source.Added, 6), ev(source.Bookmark, 40)}, ends: true, after: time.Second}, scriptedWatch{events: added(41)})
	if got := fmt.Sprint(o.versions); got != "[5 40]" || o.seen != "ADDED 6, ADDED 41" {
		t.Errorf("watches from %s, events %s", got, o.seen)
	}
	if o.timeout < 5*time.Minute || o.timeout > 10*time.Minute {
		t.Errorf("WatchOptions.Timeout = %v, want 5 to 10 minutes", o.timeout)
	}
}

// TestRepeatedEvents: an event sent twice, in one connection or two, is passed on once.
func TestRepeatedEvents(t *testing.T) {
	deleted := ev(source.Deleted, 6)
	events := append(added(6, 6), ev(source.Bookmark, 6), ev(source.Added, 6), deleted, deleted, ev(source.Added, 7))
	o := retry(t, "5", 3*time.Second, steady, scriptedWatch{events: events, raw: true, ends: true, after: time.Second}, scriptedWatch{events: added(7, 8), raw: true})
	if o.seen != "ADDED 6, DELETED 6, ADDED 7, ADDED 8" {
		t.Errorf("events %s, Retry() = %v", o.seen, o.err)
	}
}

// TestRetryEndsOnPermanentFailures: the error has the version and the reason.
func TestRetryEndsOnPermanentFailures(t *testing.T) {
	tooNew := apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	unreadable := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Reason: metav1.StatusReasonStoreReadError}}
	bad := &source.DecodeError{Verb: "watch", Item: 1, Err: source.ErrMalformed}
	for name, tc := range map[string]struct {
		watch   scriptedWatch
		reason  reason.Reason
		watches int
	}{
		"410":              {scriptedWatch{refuse: apierrors.NewResourceExpired("too old")}, reason.Expired, 1},
		"410 after events": {scriptedWatch{events: added(6), ends: true, err: apierrors.NewResourceExpired("too old")}, reason.Expired, 1},
		"422":              {scriptedWatch{refuse: apierrors.NewBadRequest("what is this?")}, reason.Refused, 1},
		"too new":          {scriptedWatch{refuse: tooNew}, reason.TooNew, 1},
		"went back":        {scriptedWatch{events: added(3), raw: true}, reason.WentBack, 1},
		"unreadable":       {scriptedWatch{ends: true, err: unreadable}, reason.Unreadable, 1},
		"bad data":         {scriptedWatch{events: added(6), ends: true, err: bad}, reason.BadData, 2},
		"not transformed":  {scriptedWatch{ends: true, err: &source.TransformError{Err: io.EOF}}, reason.Transform, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := retry(t, "5", time.Hour, steady, tc.watch)
			if reason.Of(o.err) != tc.reason || len(o.versions) != tc.watches || o.duration == time.Hour {
				t.Errorf("Retry() = %v after %v, with watches from %v", o.err, o.duration, o.versions)
			}
			if !strings.HasPrefix(o.err.Error(), "things.test.io/v1: the watch can't go on after version ") {
				t.Errorf("Retry() = %v, want the source and the step", o.err)
			}
			if expired := tc.reason == reason.Expired; apierrors.IsResourceExpired(o.err) != expired {
				t.Errorf("IsResourceExpired(%v) = %v, want %v", o.err, !expired, expired)
			}
		})
	}
}

// TestRetryRecoversFromTemporaryFailures: the resource does not exist yet, the server fails, or the
// data is bad at a different version each time.
func TestRetryRecoversFromTemporaryFailures(t *testing.T) {
	for name, err := range map[string]error{
		"404": apierrors.NewGenericServerResponse(404, "watch", thingResource, "", "", 0, true),
		"500": apierrors.NewInternalError(io.EOF), "503": apierrors.NewServiceUnavailable(""), "reset": io.ErrUnexpectedEOF,
	} {
		o := retry(t, "5", time.Minute, steady, scriptedWatch{refuse: err}, scriptedWatch{refuse: err}, scriptedWatch{refuse: err}, scriptedWatch{events: added(6)})
		if o.seen != "ADDED 6" || len(o.failed) != 3 || errors.Is(o.err, err) {
			t.Errorf("%s: events %q, failures %v, Retry() = %v", name, o.seen, o.failed, o.err)
		}
	}
	bad := &source.DecodeError{Err: source.ErrMalformed}
	o := retry(t, "5", time.Minute, steady, scriptedWatch{events: added(6), ends: true, err: bad}, scriptedWatch{events: added(7), ends: true, err: bad}, scriptedWatch{events: added(8)})
	if o.seen != "ADDED 6, ADDED 7, ADDED 8" {
		t.Errorf("events %s, Retry() = %v", o.seen, o.err)
	}
}

// TestCancelIsImmediate: Retry returns at once while connecting, watching and waiting. Its error
// names the last failure, if any.
func TestCancelIsImmediate(t *testing.T) {
	refused := errors.New("connection refused")
	for name, tc := range map[string]struct {
		watch  scriptedWatch
		failed error
	}{
		"connecting":  {scriptedWatch{silent: true}, nil},
		"watching":    {scriptedWatch{events: added(6)}, nil},
		"backing off": {scriptedWatch{refuse: refused}, refused},
		"retry after": {scriptedWatch{refuse: apierrors.NewTooManyRequests("", 3600)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := retry(t, "5", 100*time.Millisecond, steady, tc.watch)
			if o.duration != 100*time.Millisecond || !errors.Is(o.err, context.DeadlineExceeded) || tc.failed != nil && !errors.Is(o.err, tc.failed) {
				t.Errorf("Retry() = %v after %v, want 100ms", o.err, o.duration)
			}
			if blames := strings.Contains(o.err.Error(), "last failure"); blames != (tc.watch.refuse != nil) {
				t.Errorf("Retry() = %v, want the last failure only if there is one", o.err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		w := &fakeSource{}
		if err := watch.Retry(ctx, w, "5", watch.Options{}, func(source.Event[thing]) error { return nil }); !errors.Is(err, cause) || len(w.versions) != 0 {
			t.Errorf("Retry() = %v with watches from %v", err, w.versions)
		}
	})
}

func TestInvalidArguments(t *testing.T) {
	event := func(source.Event[thing]) error { return nil }
	done := func(source.Event[thing]) (bool, error) { return true, nil }
	var noContext context.Context
	for _, err := range []error{
		watch.Retry(noContext, &fakeSource{}, "5", watch.Options{}, event),
		watch.Retry[thing](t.Context(), nil, "5", watch.Options{}, event),
		watch.Retry(t.Context(), &fakeSource{}, "5", watch.Options{}, nil),
		watch.Retry(t.Context(), &fakeSource{}, "5", watch.Options{SilenceTimeout: -1}, event),
		watch.Retry(t.Context(), &fakeSource{}, "5", watch.Options{Backoff: reflector.Backoff{Jitter: 1.5}}, event),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "watch.Retry: ") {
			t.Errorf("Retry() = %v", err)
		}
	}
	for _, until := range []func() (source.Event[thing], error){
		func() (source.Event[thing], error) {
			return watch.Until(noContext, &fakeSource{}, "5", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until[thing](t.Context(), nil, "5", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until(t.Context(), &fakeSource{}, "0", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until(t.Context(), &fakeSource{}, "5", watch.Options{}, done, nil)
		},
	} {
		if _, err := until(); err == nil || !strings.HasPrefix(err.Error(), "watch.Until: ") {
			t.Errorf("Until() = %v", err)
		}
	}
}
