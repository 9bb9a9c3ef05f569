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

// TestMirrorRetryWatcher has the scenarios of client-go's TestRetryWatcher. Each runs for ten
// seconds. reason is the reason of Retry's error, or None if Retry goes on all the time.
func TestMirrorRetryWatcher(t *testing.T) {
	// closeAfter returns watches with n of the events each.
	closeAfter := func(n int, versions ...int) []scriptedWatch {
		var all []scriptedWatch
		for from := 0; from < len(versions); from += n {
			all = append(all, scriptedWatch{events: added(versions[from:min(from+n, len(versions))]...), ends: true, after: time.Second})
		}
		return append(all, scriptedWatch{})
	}
	fails := func(err error) []scriptedWatch {
		return []scriptedWatch{{events: added(6), ends: true, err: err}, {events: added(6, 7)}}
	}
	gone := &apierrors.StatusError{ErrStatus: metav1.Status{Code: 410, Reason: metav1.StatusReasonGone}}
	for name, tc := range map[string]struct {
		from    string
		script  []scriptedWatch
		seen    string
		watches int
		reason  reason.Reason
	}{
		"recovers from an error of the client": {"1", []scriptedWatch{{refuse: errors.New("test error")}, {events: added(2)}}, "ADDED 2", 2, 0},
		// client-go asks for an expired version until the context is done.
		"fails on 410 as an answer": {"1", []scriptedWatch{{refuse: apierrors.NewResourceExpired("")}, {events: added(2)}}, "", 1, reason.Expired},
		// Its "nil watcher" does not compile here; the nearest case is a watch that ends before it
		// was accepted.
		"recovers from a watch without an answer": {"1", []scriptedWatch{{ends: true}, {events: added(2)}}, "ADDED 2", 2, 0},
		"starts after the version":                {"1", []scriptedWatch{{events: added(1, 2)}}, "ADDED 2", 1, 0},
		"starts after the version of nothing":     {"3", []scriptedWatch{{events: added(2)}}, "", 1, 0},
		"fails on 410 in the stream": {"5", []scriptedWatch{{events: added(5, 6), ends: true, err: gone}, {events: added(7, 8)}}, "ADDED 6", 1,
			reason.Expired},
		"fails on forbidden":    {"5", []scriptedWatch{{refuse: apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("unknown"))}}, "", 1, reason.Forbidden},
		"fails on unauthorized": {"5", []scriptedWatch{{refuse: apierrors.NewUnauthorized("")}}, "", 1, reason.Unauthorized},

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
			o := retry(t, tc.from, 10*time.Second, steady, tc.script...)
			if o.seen != tc.seen || len(o.versions) != tc.watches {
				t.Errorf("events %s in watches from %v, want %s in %d", o.seen, o.versions, tc.seen, tc.watches)
			}
			if tc.reason == reason.None && !errors.Is(o.err, context.DeadlineExceeded) || tc.reason != reason.None && reason.Of(o.err) != tc.reason {
				t.Errorf("Retry() = %v", o.err)
			}
		})
	}
}

// TestMirrorNewRetryWatcher: client-go's test of that name.
func TestMirrorNewRetryWatcher(t *testing.T) {
	for _, version := range []string{"", "0"} {
		err := watch.Retry(t.Context(), &fakeSource{}, version, watch.Options{}, func(source.Event[thing]) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "not a version to start after") {
			t.Errorf("Retry() from %q = %v", version, err)
		}
	}
}

// TestMirrorRetryWatcherToFinishWithUnreadEvents: client-go's test of that name. No event is
// read ahead. An event after the end of the context is not passed on.
func TestMirrorRetryWatcherToFinishWithUnreadEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &fakeSource{watches: []scriptedWatch{{events: added(2, 3)}}}
		seen := 0
		err := watch.Retry(ctx, w, "1", watch.Options{}, func(source.Event[thing]) error {
			seen++
			cancel()
			return nil
		})
		if seen != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("Retry() = %v after %d events, want context.Canceled after 1", err, seen)
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
		"other events in between":     {added(2, 3, 4), []condition{func(e source.Event[thing]) (bool, error) { return e.ResourceVersion == "4", nil }}, "4", nil},
		"bookmarks are not passed on": {[]source.Event[thing]{ev(source.Bookmark, 2), ev(source.Added, 3)}, []condition{func(e source.Event[thing]) (bool, error) { return e.Object != nil, nil }}, "3", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				last, err := watch.Until(ctx, &fakeSource{watches: []scriptedWatch{{events: tc.events}}}, "1", watch.Options{}, tc.conditions...)
				if last.ResourceVersion != tc.last || !errors.Is(err, tc.err) {
					t.Errorf("Until() = %q, %v, want %q, %v", last.ResourceVersion, err, tc.last, tc.err)
				}
			})
		})
	}
}
