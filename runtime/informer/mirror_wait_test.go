// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// Special delays of an informer's sync: the server never answers, or forbids the list.
const (
	never     = -1
	forbidden = -2
)

// slowFactory returns a factory with an informer for each name, which syncs after the given delay.
func slowFactory(t *testing.T, after map[string]time.Duration) *factories.Factory {
	server := sourcetest.New()
	shop := &shop{Server: server}
	f := shop.Factory(t, informer.WithTuning(reflector.Tuning{DisableWatchList: true}), informer.WithLogger(discard))
	for name, d := range after {
		gvr := corev1.SchemeGroupVersion.WithResource(name)
		sourcetest.Serve[*corev1.Pod](server, gvr, "Pod")
		delay := func(a *sourcetest.Answer) { a.Delay = d }
		switch d {
		case never:
			delay = sourcetest.Fail(sourcetest.ErrHang)
		case forbidden:
			delay = sourcetest.Refuse(403)
		}
		server.Inject(sourcetest.Fault{On: sourcetest.List, Resource: gvr, Times: sourcetest.Always, Do: delay})
		factories.For[*corev1.Pod](f, gvr)
	}
	return f
}

// TestWaitFor waits for several informers. There is no log line for each informer that has synced;
// a line every 10 s names the unsynced ones, with the reason.
func TestWaitFor(t *testing.T) {
	second := time.Second
	for name, test := range map[string]struct {
		after   map[string]time.Duration
		timeout time.Duration // 0: none; never: cancelled before the wait
		cause   string
		want    string        // "" if all sync
		took    time.Duration // by the wait
		logs    int           // number of log lines
	}{
		"empty":     {want: ""},
		"no caches": {after: map[string]time.Duration{}, want: ""},
		"no logging": {
			after: map[string]time.Duration{"first": 9 * second, "second": 5 * second, "last": 0}, took: 9 * second,
		},
		"with logging": {
			after: map[string]time.Duration{"first": 25 * second, "second": 15 * second, "last": 0}, took: 25 * second, logs: 2,
		},
		"some time out": {
			after: map[string]time.Duration{"first": 10 * second, "second": never, "last": 0}, timeout: 65 * second,
			want: "1 of 3 informers not synced after 1m5s (context deadline exceeded): second/v1 is listing for 1m5s", took: 65 * second, logs: 6,
		},
		"some cancelled": {
			after: map[string]time.Duration{"first": 10 * second, "second": never}, timeout: never,
			want: "2 of 2 informers not synced after 0s (context canceled): ",
		},
		"more": {
			after: map[string]time.Duration{"first": 10 * second, "second": never, "last": 0}, timeout: 5 * second, cause: "go fish",
			want: "2 of 3 informers not synced after 5s (go fish): ", took: 5 * second,
		},
		"all": {
			after: map[string]time.Duration{"first": never, "second": never, "last": never}, timeout: 65 * second,
			want: "3 of 3 informers not synced after 1m5s (context deadline exceeded): ", took: 65 * second, logs: 6,
		},
		"one fails": {
			after: map[string]time.Duration{"ints": 0, "strings": forbidden}, timeout: second, cause: "go fish",
			want: "1 of 2 informers not synced after 1s (go fish): strings/v1 is waiting to try again for ", took: second,
		},
		"all fail": {
			after: map[string]time.Duration{"ints": forbidden, "strings": forbidden}, timeout: second, cause: "go fish",
			want: "2 of 2 informers not synced after 1s (go fish): ", took: second,
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := slowFactory(t, test.after)
			noError(t, f.Start(t.Context()))
			var log strings.Builder
			ctx, cancel := context.WithCancelCause(klog.NewContext(t.Context(), logTo(&log)))
			switch {
			case test.timeout == never:
				cancel(nil)
			case test.cause != "":
				time.AfterFunc(test.timeout, func() { cancel(errors.New(test.cause)) })
			case test.timeout > 0:
				time.AfterFunc(test.timeout, func() { cancel(context.DeadlineExceeded) })
			}
			begin := time.Now()
			err := f.WaitForCacheSync(ctx)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("WaitForCacheSync() = %v", err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "informer factory: WaitForCacheSync: "+test.want)):
				t.Errorf("got  %v\nwant %s", err, test.want)
			case test.want != "" && !errors.Is(err, context.Cause(ctx)):
				t.Error("the error does not wrap the cause")
			}
			// The error names all unsynced informers, and wraps the last error of each.
			for name, d := range test.after {
				if d < 0 && (!strings.Contains(err.Error(), name+"/v1 is ") || apierrors.IsForbidden(err) != (d == forbidden)) {
					t.Errorf("the error about %s: %v", name, err)
				}
			}
			same(t, "the wait", time.Since(begin), test.took)
			if n := strings.Count(log.String(), "Waiting for informers to sync"); n != test.logs {
				t.Errorf("%d log lines, want %d: %s", n, test.logs, log.String())
			}
			cancel(nil)
			shutdown(t, f)
		})
	}
}

// TestFailOn shows that lasting failures end the wait at once, and that others don't.
func TestFailOn(t *testing.T) {
	for name, test := range map[string]struct {
		code int
		opts []informer.WaitOption
		end  time.Duration
	}{
		"forbidden":                   {403, []informer.WaitOption{informer.FailOn()}, 0},
		"not found":                   {404, []informer.WaitOption{informer.FailOn(reason.NotFound)}, 0},
		"not found, FailOn forbidden": {404, []informer.WaitOption{informer.FailOn(reason.Forbidden)}, time.Hour},
		"server error":                {500, []informer.WaitOption{informer.FailOn()}, time.Hour},
		"no option":                   {403, nil, time.Hour},
	} {
		inBubble(t, name, func(t *testing.T) {
			server := newShop()
			server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(test.code)})
			f := server.Factory(t, informer.WithLogger(discard))
			pods := podsOf(f)
			noError(t, f.Start(t.Context()))
			ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), discard), time.Hour)
			defer cancel()
			for _, wait := range []func(context.Context, ...informer.WaitOption) error{f.WaitForCacheSync, pods.WaitForCacheSync} {
				err := wait(ctx, test.opts...)
				if status := apierrors.APIStatus(nil); !errors.As(err, &status) || int(status.Status().Code) != test.code || errors.Is(err, context.DeadlineExceeded) != (test.end > 0) {
					t.Errorf("WaitForCacheSync() = %v, want an error with code %d", err, test.code)
				}
			}
			shutdown(t, f)
		})
	}
	pods := newPods(t, newShop().Source(t), informer.WithName("pods"))
	want(t, pods.WaitForCacheSync(t.Context(), nil), "informer pods: WaitForCacheSync: option 1 is nil")
	want(t, pods.WaitForCacheSync(t.Context(), informer.FailOn(reason.None)), "informer pods: WaitForCacheSync: FailOn: reason.None is not a failure")
}
