// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestStatusString reads the status as text in every stage of an informer's life.
func TestStatusString(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""), pod("shop", "red", ""))
		pods := newPods(t, server.Source(t), informer.WithName("pods"), informer.WithLogger(discard))
		release := make(chan struct{})
		r := informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }}, informer.WithHandlerName("billing"), informer.WithBacklogThreshold(0))
		line := func(want string) {
			t.Helper()
			same(t, "status", pods.Status().String(), want)
		}
		line("pods: not running; not synced")
		stop := start(t, pods)
		pass(3 * time.Second)
		begin := time.Now().Add(-3 * time.Second).UTC().Format(time.RFC3339)
		h := pods.Status().Handlers[0]
		line(fmt.Sprintf(`pods: watching since %s; synced, 2 objects at resourceVersion 3; handler "billing" is in OnAdd of %s for 3s, 1 waiting`, begin, h.Key))
		server.Move("blue", "node")
		server.Move("red", "node")
		synctest.Wait()
		if text := r.Status().String(); !strings.HasSuffix(text, ", merging") {
			t.Errorf("Status().String() = %q, want merging", text)
		}
		close(release)
		synctest.Wait()
		same(t, "the handler", r.Status().String(), `handler "billing" is idle, 0 waiting`)
		stop()
		line("pods: not running; synced, 2 objects at resourceVersion 5")
	})
}

// TestStatusJSON compares the exact JSON, in a bubble, where times are known.
func TestStatusJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", "node-1"))
		f := server.Factory(t, informer.WithLogger(discard))
		pods := podsOf(f)
		release := make(chan struct{})
		informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }}, informer.WithHandlerName("billing"))
		asJSON := func() string {
			t.Helper()
			data, err := json.Marshal(pods.Status())
			noError(t, err)
			return string(data)
		}
		reader := `{"state":"stopped","synced":false}`
		same(t, "before the start", asJSON(), `{"name":"pods/v1","running":false,"synced":false,"objects":0,"reflector":`+reader+
			`,"streams":[{"synced":false,"objects":0,"reflector":`+reader+`}],"handlers":[{"name":"billing","synced":false,"backlog":0}]}`)

		allow := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			a.Status = sourcetest.Status(http.StatusUnauthorized)
			a.Header.Set("Retry-After", "3600")
		}})
		noError(t, f.Start(t.Context()))
		time.Sleep(90 * time.Second)
		synctest.Wait()
		// 300 s plus jitter
		retryAt := pods.Status().Reflector.RetryAt.UTC().Format(time.RFC3339Nano)
		reader = `{"state":"waiting to try again","since":"2000-01-01T00:00:00Z","for":"1m30s","synced":false,"reason":"unauthorized",` +
			`"lastError":"the server has asked for the client to provide credentials","lastErrorTime":"2000-01-01T00:00:00Z","attempts":1,"retryAt":"` + retryAt + `"}`
		same(t, "while it is refused", asJSON(), `{"name":"pods/v1","running":true,"synced":false,"objects":0,"reflector":`+reader+
			`,"streams":[{"synced":false,"objects":0,"reflector":`+reader+`}],"handlers":[{"name":"billing","synced":false,"backlog":0}]}`)

		allow()
		time.Sleep(time.Until(pods.Status().Reflector.RetryAt))
		synctest.Wait()
		began := pods.Status().Reflector.Since.UTC().Format(time.RFC3339Nano)
		time.Sleep(2 * time.Second)
		reader = `{"state":"watching","since":"` + began + `","for":"2s","synced":true,"lastError":"the server has asked for the client to provide credentials",` +
			`"lastErrorTime":"2000-01-01T00:00:00Z","attempts":1,"lastEvent":"` + began + `","lastBookmark":"` + began + `","resourceVersion":"2"}`
		same(t, "while a handler is stuck", asJSON(), `{"name":"pods/v1","running":true,"synced":true,"objects":1,"resourceVersion":"2","reflector":`+reader+
			`,"streams":[{"synced":true,"objects":1,"resourceVersion":"2","reflector":`+reader+`}],"handlers":[{"name":"billing","synced":false,"backlog":0,`+
			`"callback":"OnAdd","key":"shop/blue","since":"`+began+`","for":"2s"}]}`)
		close(release)
		shutdown(t, f)
	})
}

// TestFailOnForgetsTheLastRun shows that a failure of the previous run doesn't end the wait for the
// next run, even if that still waits for the end of the previous one.
func TestFailOnForgetsTheLastRun(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		inBubble(t, fmt.Sprint("the last run is stuck ", stuck), func(t *testing.T) {
			server := newShop()
			allow := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusUnauthorized)})
			release := make(chan struct{})
			if !stuck {
				close(release)
			}
			f := server.Factory(t, informer.WithLogger(discard), informer.WithErrorHandler(func(string, error) { <-release }))
			podsOf(f)
			ctx, cancel := context.WithCancel(t.Context())
			noError(t, f.Start(ctx))
			synctest.Wait()
			if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); !apierrors.IsUnauthorized(err) {
				t.Errorf("WaitForCacheSync() = %v, want Unauthorized", err)
			}
			allow()
			cancel()
			synctest.Wait()
			noError(t, f.Start(t.Context()))
			if stuck {
				time.AfterFunc(time.Second, func() { close(release) })
			}
			if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); err != nil {
				t.Errorf("WaitForCacheSync in the next run = %v", err)
			}
			shutdown(t, f)
		})
	}
}
