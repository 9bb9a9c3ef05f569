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

func TestOutageIsWaitedOutAtTheCap(t *testing.T) {
	o := retry(t, "5", 10*time.Minute+time.Second, steady, turn{refuse: io.ErrUnexpectedEOF})
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
		t.Errorf("%d failures, ended with %v", len(o.failed), o.err)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	busy := apierrors.NewTooManyRequests("later", 7)
	o := retry(t, "5", time.Minute, steady, turn{refuse: busy}, turn{ends: true, err: busy})
	for _, gap := range o.gaps(o.start)[1:] {
		if gap < 7*time.Second || gap > 7700*time.Millisecond {
			t.Errorf("waited for %v, want 7 s and at most a tenth", gap)
		}
	}
	if len(o.asked) < 7 {
		t.Errorf("asked %d times in a minute", len(o.asked))
	}
}

// TestEndedWatchIsOpenedAgain shows that there is no wait after a normal end, and that a server
// that ends every watch at once is not asked in a loop.
func TestEndedWatchIsOpenedAgain(t *testing.T) {
	o := retry(t, "5", 5500*time.Millisecond, steady, turn{ends: true, after: time.Second})
	if len(o.asked) != 6 || len(o.failed) != 0 {
		t.Errorf("watches of a second: asked %d times, failures %v", len(o.asked), o.failed)
	}
	for name, brings := range map[string][]source.Event[thing]{"nothing": nil, "something": added(5)} {
		o := retry(t, "5", 10*time.Minute, steady, turn{ends: true, events: brings, raw: true})
		if n := len(o.asked); n > 40 || reason.Of(o.failed[0]) != reason.ShortWatch {
			t.Errorf("watches that bring %s: asked %d times in ten minutes, failures %v", name, n, o.failed[0])
		}
	}
}

func TestBackoffIsResetByAHealthyWatchOnly(t *testing.T) {
	broken := errors.New("reset by peer")
	lasting := func(d time.Duration) turn { return turn{ends: true, after: d, err: broken} }
	o := retry(t, "5", 20*time.Minute, steady, turn{refuse: broken}, turn{refuse: broken}, lasting(119*time.Second), lasting(2*time.Minute), turn{})
	gaps := o.gaps(o.start)
	for i, want := range []time.Duration{0, 800 * time.Millisecond, 1600 * time.Millisecond, 119*time.Second + 3200*time.Millisecond, 2*time.Minute + 800*time.Millisecond} {
		if gaps[i] != want {
			t.Errorf("watch %d comes after %v, want %v", i+1, gaps[i], want)
		}
	}
}

// TestSilentConnectionIsReplaced shows that a silent connection is replaced at once if it was open,
// and after a wait if it was never answered.
func TestSilentConnectionIsReplaced(t *testing.T) {
	opts := steady
	opts.SilenceTimeout = time.Minute
	opts.Backoff.ResetAfter = time.Minute
	o := retry(t, "5", 10*time.Minute, opts, turn{events: added(6)}, turn{}, turn{deaf: true}, turn{events: added(7)})
	gaps := o.gaps(o.start)
	for i, want := range []time.Duration{0, time.Minute, time.Minute, time.Minute + 800*time.Millisecond} {
		if gaps[i] != want {
			t.Errorf("watch %d comes after %v, want %v", i+1, gaps[i], want)
		}
	}
	if o.seen != "ADDED 6, ADDED 7" || reason.Of(o.failed[2]) != reason.Silent {
		t.Errorf("saw %s, failures %v", o.seen, o.failed)
	}
	o = retry(t, "5", 10*time.Minute, opts, turn{deaf: true}, turn{})
	if got := o.gaps(o.start)[1]; got != time.Minute+800*time.Millisecond {
		t.Errorf("after no answer for a minute, another one is asked for after %v", got)
	}
}

func TestBusyCallbackIsNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Minute)
		defer cancel()
		w := &world{turns: []turn{{events: added(6, 7, 8)}}}
		err := watch.Retry(ctx, w, "5", watch.Options{}, func(source.Event[thing]) error {
			time.Sleep(10 * time.Minute)
			return nil
		})
		if len(w.asked) != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("asked after %v, ended with %v", w.asked, err)
		}
	})
}

func TestBookmarksMoveTheVersion(t *testing.T) {
	o := retry(t, "5", 3*time.Second, steady,
		turn{events: []source.Event[thing]{ev(source.Added, 6), ev(source.Bookmark, 40)}, ends: true, after: time.Second}, turn{events: added(41)})
	if got := fmt.Sprint(o.asked); got != "[5 40]" || o.seen != "ADDED 6, ADDED 41" {
		t.Errorf("asked after %s, saw %s", got, o.seen)
	}
	if o.timeout < 5*time.Minute || o.timeout > 10*time.Minute {
		t.Errorf("asked for watches of %v", o.timeout)
	}
}

// TestRepeatedEvents shows that an event that a server sends twice is passed on once, in one
// connection and over two.
func TestRepeatedEvents(t *testing.T) {
	deleted := ev(source.Deleted, 6)
	events := append(added(6, 6), ev(source.Bookmark, 6), ev(source.Added, 6), deleted, deleted, ev(source.Added, 7))
	o := retry(t, "5", 3*time.Second, steady, turn{events: events, raw: true, ends: true, after: time.Second}, turn{events: added(7, 8), raw: true})
	if o.seen != "ADDED 6, DELETED 6, ADDED 7, ADDED 8" {
		t.Errorf("saw %s, ended with %v", o.seen, o.err)
	}
}

// TestStatesThatCannotGoOn shows that the error has the version, and its reason.
func TestStatesThatCannotGoOn(t *testing.T) {
	tooNew := apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
	unreadable := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Reason: metav1.StatusReasonStoreReadError}}
	bad := &source.DecodeError{Verb: "watch", Item: 1, Err: source.ErrMalformed}
	for name, tc := range map[string]struct {
		turn    turn
		reason  reason.Reason
		watches int
	}{
		"410":              {turn{refuse: apierrors.NewResourceExpired("too old")}, reason.Expired, 1},
		"410 after events": {turn{events: added(6), ends: true, err: apierrors.NewResourceExpired("too old")}, reason.Expired, 1},
		"422":              {turn{refuse: apierrors.NewBadRequest("what is this?")}, reason.Refused, 1},
		"too new":          {turn{refuse: tooNew}, reason.TooNew, 1},
		"went back":        {turn{events: added(3), raw: true}, reason.WentBack, 1},
		"unreadable":       {turn{ends: true, err: unreadable}, reason.Unreadable, 1},
		"bad data":         {turn{events: added(6), ends: true, err: bad}, reason.BadData, 2},
		"not transformed":  {turn{ends: true, err: &source.TransformError{Err: io.EOF}}, reason.Transform, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := retry(t, "5", time.Hour, steady, tc.turn)
			if reason.Of(o.err) != tc.reason || len(o.asked) != tc.watches || o.lasted == time.Hour {
				t.Errorf("asked after %v, ended after %v with %v", o.asked, o.lasted, o.err)
			}
			if !strings.HasPrefix(o.err.Error(), "things.test.io/v1: the watch can't go on after version ") {
				t.Errorf("the error says %v", o.err)
			}
			if expired := tc.reason == reason.Expired; apierrors.IsResourceExpired(o.err) != expired {
				t.Errorf("IsResourceExpired says %v of %v", !expired, o.err)
			}
		})
	}
}

// TestStatesThatPass has a resource that does not exist yet, failing servers, and bad data that is
// different each time.
func TestStatesThatPass(t *testing.T) {
	for name, err := range map[string]error{
		"404": apierrors.NewGenericServerResponse(404, "watch", thingResource, "", "", 0, true),
		"500": apierrors.NewInternalError(io.EOF), "503": apierrors.NewServiceUnavailable(""), "reset": io.ErrUnexpectedEOF,
	} {
		o := retry(t, "5", time.Minute, steady, turn{refuse: err}, turn{refuse: err}, turn{refuse: err}, turn{events: added(6)})
		if o.seen != "ADDED 6" || len(o.failed) != 3 || errors.Is(o.err, err) {
			t.Errorf("%s: saw %q, failures %v, ended with %v", name, o.seen, o.failed, o.err)
		}
	}
	bad := &source.DecodeError{Err: source.ErrMalformed}
	o := retry(t, "5", time.Minute, steady, turn{events: added(6), ends: true, err: bad}, turn{events: added(7), ends: true, err: bad}, turn{events: added(8)})
	if o.seen != "ADDED 6, ADDED 7, ADDED 8" {
		t.Errorf("saw %s, ended with %v", o.seen, o.err)
	}
}

// TestCancelIsImmediate cancels while connecting, watching and waiting; no time passes until Retry
// returns, and its error names a failure only if there is one.
func TestCancelIsImmediate(t *testing.T) {
	refused := errors.New("connection refused")
	for name, tc := range map[string]struct {
		turn   turn
		failed error
	}{
		"connecting":  {turn{deaf: true}, nil},
		"watching":    {turn{events: added(6)}, nil},
		"backing off": {turn{refuse: refused}, refused},
		"retry after": {turn{refuse: apierrors.NewTooManyRequests("", 3600)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := retry(t, "5", 100*time.Millisecond, steady, tc.turn)
			if o.lasted != 100*time.Millisecond || !errors.Is(o.err, context.DeadlineExceeded) || tc.failed != nil && !errors.Is(o.err, tc.failed) {
				t.Errorf("ended after %v with %v", o.lasted, o.err)
			}
			if blames := strings.Contains(o.err.Error(), "last failure"); blames != (tc.turn.refuse != nil) {
				t.Errorf("the error says %v", o.err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		w := &world{}
		if err := watch.Retry(ctx, w, "5", watch.Options{}, func(source.Event[thing]) error { return nil }); !errors.Is(err, cause) || len(w.asked) != 0 {
			t.Errorf("asked after %v, ended with %v", w.asked, err)
		}
	})
}

func TestWrongArgumentsAreErrors(t *testing.T) {
	event := func(source.Event[thing]) error { return nil }
	done := func(source.Event[thing]) (bool, error) { return true, nil }
	var noContext context.Context
	for _, err := range []error{
		watch.Retry(noContext, &world{}, "5", watch.Options{}, event),
		watch.Retry[thing](t.Context(), nil, "5", watch.Options{}, event),
		watch.Retry(t.Context(), &world{}, "5", watch.Options{}, nil),
		watch.Retry(t.Context(), &world{}, "5", watch.Options{SilenceTimeout: -1}, event),
		watch.Retry(t.Context(), &world{}, "5", watch.Options{Backoff: reflector.Backoff{Jitter: 1.5}}, event),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "watch.Retry: ") {
			t.Errorf("got %v", err)
		}
	}
	for _, until := range []func() (source.Event[thing], error){
		func() (source.Event[thing], error) {
			return watch.Until(noContext, &world{}, "5", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until[thing](t.Context(), nil, "5", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until(t.Context(), &world{}, "0", watch.Options{}, done)
		},
		func() (source.Event[thing], error) {
			return watch.Until(t.Context(), &world{}, "5", watch.Options{}, done, nil)
		},
	} {
		if _, err := until(); err == nil || !strings.HasPrefix(err.Error(), "watch.Until: ") {
			t.Errorf("got %v", err)
		}
	}
}
