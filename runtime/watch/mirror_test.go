// SPDX-License-Identifier: Apache-2.0

package watch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/watch"
)

// TestMirrorRetryWatcher has the scenarios of client-go's TestRetryWatcher. It runs each for ten
// seconds; reason is that of the error after which Retry can't go on, reason.None if it went on all
// the time.
func TestMirrorRetryWatcher(t *testing.T) {
	// closeAfter is a server that has these events and ends each watch after n of them.
	closeAfter := func(n int, versions ...int) []turn {
		var all []turn
		for from := 0; from < len(versions); from += n {
			all = append(all, turn{events: added(versions[from:min(from+n, len(versions))]...), ends: true, after: time.Second})
		}
		return append(all, turn{})
	}
	fails := func(err error) []turn {
		return []turn{{events: added(6), ends: true, err: err}, {events: added(6, 7)}}
	}
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 410, Reason: metav1.StatusReasonGone}}
	for name, tc := range map[string]struct {
		from    string
		turns   []turn
		seen    string
		watches int
		reason  reason.Reason
	}{
		"recovers from an error of the client": {"1", []turn{{refuse: errors.New("test error")}, {events: added(2)}}, "ADDED 2", 2, 0},
		// An expired version does not come back: client-go asks for it until the context is done.
		"fails on 410 as an answer": {"1", []turn{{refuse: apierrors.NewResourceExpired("")}, {events: added(2)}}, "", 1, reason.Expired},
		// Its "nil watcher" does not compile here; the nearest case is a watch that ends before it
		// was accepted.
		"recovers from a watch that is none":  {"1", []turn{{ends: true}, {events: added(2)}}, "ADDED 2", 2, 0},
		"starts after the version":            {"1", []turn{{events: added(1, 2)}}, "ADDED 2", 1, 0},
		"starts after the version of nothing": {"3", []turn{{events: added(2)}}, "", 1, 0},
		"fails on 410 in the stream": {"5", []turn{{events: added(5, 6), ends: true, err: gone}, {events: added(7, 8)}}, "ADDED 6", 1,
			reason.Expired},
		"fails on forbidden":    {"5", []turn{{refuse: apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("unknown"))}}, "", 1, reason.Forbidden},
		"fails on unauthorized": {"5", []turn{{refuse: apierrors.NewUnauthorized("")}}, "", 1, reason.Unauthorized},

		"recovers from a timeout":             {"5", fails(apierrors.NewTimeoutError("", 0)), "ADDED 6, ADDED 7", 2, 0},
		"recovers from an internal error":     {"5", fails(apierrors.NewInternalError(errors.New(""))), "ADDED 6, ADDED 7", 2, 0},
		"recovers from an unknown code":       {"5", fails(&apierrors.StatusError{ErrStatus: metav1.Status{Code: 666}}), "ADDED 6, ADDED 7", 2, 0},
		"recovers from an unknown error type": {"5", fails(&source.DecodeError{Err: source.ErrWrongKind}), "ADDED 6, ADDED 7", 2, 0},

		"survives 1 end":                        {"5", closeAfter(1, 6), "ADDED 6", 2, 0},
		"survives 2 ends":                       {"4", closeAfter(1, 5, 6), "ADDED 5, ADDED 6", 3, 0},
		"survives 2 ends with gaps":             {"4", closeAfter(1, 5, 7), "ADDED 5, ADDED 7", 3, 0},
		"survives 2 ends from far behind":       {"2", closeAfter(1, 5, 7), "ADDED 5, ADDED 7", 3, 0},
		"survives 4 ends":                       {"2", closeAfter(1, 5, 6, 7, 11), "ADDED 5, ADDED 6, ADDED 7, ADDED 11", 5, 0},
		"survives 4 ends and skips what it had": {"2", closeAfter(2, 1, 2, 5, 6, 7, 11), "ADDED 5, ADDED 6, ADDED 7, ADDED 11", 4, 0},
		"survives 3 ends of two events":         {"1", closeAfter(2, 1, 2, 5, 6, 7, 11), "ADDED 2, ADDED 5, ADDED 6, ADDED 7, ADDED 11", 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := retry(t, tc.from, 10*time.Second, steady, tc.turns...)
			if o.seen != tc.seen || len(o.asked) != tc.watches {
				t.Errorf("saw %s in watches after %v, want %s in %d", o.seen, o.asked, tc.seen, tc.watches)
			}
			if tc.reason == reason.None && !errors.Is(o.err, context.DeadlineExceeded) || tc.reason != reason.None && reason.Of(o.err) != tc.reason {
				t.Errorf("ended with %v", o.err)
			}
		})
	}
}

// TestMirrorNewRetryWatcher: client-go's test of that name.
func TestMirrorNewRetryWatcher(t *testing.T) {
	for _, version := range []string{"", "0"} {
		err := watch.Retry(t.Context(), &world{}, version, watch.Options{}, func(source.Event[thing]) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "no version to start after") {
			t.Errorf("after %q: %v", version, err)
		}
	}
}

// TestMirrorRetryWatcherToFinishWithUnreadEvents: client-go's test of that name. Nothing is read
// ahead, so no event is left unread: an event that comes when the context is done already is not
// passed on.
func TestMirrorRetryWatcherToFinishWithUnreadEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &world{turns: []turn{{events: added(2, 3)}}}
		seen := 0
		err := watch.Retry(ctx, w, "1", watch.Options{}, func(source.Event[thing]) error {
			seen++
			cancel()
			return nil
		})
		if seen != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("saw %d, ended with %v", seen, err)
		}
	})
}

// TestMirrorUntil has client-go's TestUntil, TestUntilMultipleConditions,
// TestUntilMultipleConditionsFail, TestUntilTimeout and TestUntilErrorCondition.
func TestMirrorUntil(t *testing.T) {
	bad := errors.New("something bad")
	type condition = func(source.Event[thing]) (bool, error)
	is := func(typ source.EventType) condition {
		return func(e source.Event[thing]) (bool, error) { return e.Type == typ, nil }
	}
	fail := func(source.Event[thing]) (bool, error) { return false, bad }
	for name, tc := range map[string]struct {
		events     []source.Event[thing]
		conditions []condition
		last       string
		err        error
	}{
		"two events":                  {[]source.Event[thing]{ev(source.Added, 2), ev(source.Modified, 3)}, []condition{is(source.Added), is(source.Modified)}, "3", nil},
		"one event for two":           {added(2), []condition{is(source.Added), is(source.Added)}, "2", nil},
		"the third does not come":     {added(2), []condition{is(source.Added), is(source.Added), is(source.Deleted)}, "2", context.DeadlineExceeded},
		"nothing comes":               {nil, []condition{is(source.Added)}, "", context.DeadlineExceeded},
		"a condition fails":           {added(2), []condition{is(source.Added), fail}, "2", bad},
		"the first condition fails":   {added(2, 3), []condition{fail}, "2", bad},
		"no condition":                {added(2), nil, "", nil},
		"other events stand between":  {added(2, 3, 4), []condition{func(e source.Event[thing]) (bool, error) { return e.ResourceVersion == "4", nil }}, "4", nil},
		"bookmarks are not asked for": {[]source.Event[thing]{ev(source.Bookmark, 2), ev(source.Added, 3)}, []condition{func(e source.Event[thing]) (bool, error) { return e.Object != nil, nil }}, "3", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				last, err := watch.Until(ctx, &world{turns: []turn{{events: tc.events}}}, "1", watch.Options{}, tc.conditions...)
				if last.ResourceVersion != tc.last || !errors.Is(err, tc.err) {
					t.Errorf("got %q, %v; want %q, %v", last.ResourceVersion, err, tc.last, tc.err)
				}
			})
		})
	}
}
