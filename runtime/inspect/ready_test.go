// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestReadyNamesReasons: from before a factory's start to its end.
func TestReadyNamesReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue"))
		allow := server.refuse("pods", http.StatusForbidden)
		f := server.factory(t)
		ready := inspect.Ready(f)
		want := func(text string) {
			t.Helper()
			code := http.StatusServiceUnavailable
			if text == "" {
				code, text = http.StatusOK, "ok"
				if err := ready(nil); err != nil {
					t.Error(err)
				}
			} else if err := ready(nil); err == nil || !strings.HasPrefix(err.Error(), text) {
				t.Errorf("Ready() = %v, want %s", err, text)
			}
			req := httptest.NewRequest(http.MethodGet, "http://10.0.0.7:8080/readyz", nil)
			req.RemoteAddr = "10.0.0.1:4711" // probes come from elsewhere
			w := httptest.NewRecorder()
			ready.ServeHTTP(w, req)
			if w.Code != code || !strings.HasPrefix(w.Body.String(), text) {
				t.Errorf("the response is %d %s, want %d %s", w.Code, w.Body, code, text)
			}
			if strings.Contains(w.Body.String(), "is forbidden") {
				t.Errorf("the response has the text of the error: %s", w.Body)
			}
		}
		want("") // there are no informers
		factories.For[*corev1.Pod](f, podResource)
		want("not ready: 1 of 1 informers have not synced: pods/v1 is not running; a factory's Start runs only informers made before it")
		end := start(t, f)
		want("not ready: 1 of 1 informers have not synced: pods/v1 is waiting to try again (forbidden, 2 failures in a row)")
		allow()
		time.Sleep(time.Minute)
		want("")
		factories.For[*corev1.Pod](f, podResource, informer.WithName("late"))
		want("not ready: 1 of 2 informers have not synced: late is not running")
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want("")
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusServiceUnavailable)})
		server.EndWatches()
		time.Sleep(time.Hour)
		want("") // an outage does not take the program out of service
		end()
	})
}

// TestReadyNamesNamespaces has a forbidden namespace.
func TestReadyNamesNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			if a.Request.Namespace == "bank" {
				sourcetest.Refuse(http.StatusForbidden)(a)
			}
		}})
		f := server.factory(t, informer.WithNamespace("shop", "bank"))
		factories.For[*corev1.Pod](f, podResource)
		defer start(t, f)()
		err := inspect.Ready(f)(nil)
		if err == nil || err.Error() != "not ready: 1 of 1 informers have not synced: pods/v1 in namespace bank is waiting to try again (forbidden, 2 failures in a row)" {
			t.Error(err)
		}
	})
}

// TestReadyOfInvalidInformers has no factory, and an informer with an invalid option.
func TestReadyOfInvalidInformers(t *testing.T) {
	if err := inspect.Ready(nil)(nil); err == nil {
		t.Error("Ready(nil) has no error")
	}
	var none *factories.Factory
	if err := inspect.Ready(none)(nil); err == nil {
		t.Error("Ready of a nil *Factory has no error")
	}
	f := newShop().factory(t)
	factories.For[*corev1.Pod](f, podResource, nil)
	if err := inspect.Ready(f)(nil); err == nil || !strings.Contains(err.Error(), "could not be made") {
		t.Error(err)
	}
	contains(t, page(t, inspect.Handler(f), "/"), "pods/v1 failing It has not synced: not running (factories.For pods/v1: ")
}
