// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
)

// TestAwaitTokenWithSelector awaits writes of objects that the informer's selector excludes. They
// have no events, so a later event or the next bookmark ends the wait. A write that takes an object
// out of the selection has an event.
func TestAwaitTokenWithSelector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "blue", map[string]string{"of": "mine"}))
		server.BookmarkInterval = time.Minute
		f := server.Factory(t, informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"of": "mine"})))
		pods := podsOf(f)
		run(t, f)
		await := func(what string, token object.Token, most time.Duration) {
			t.Helper()
			begin := time.Now()
			if err := pods.AwaitToken(t.Context(), token); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if took := time.Since(begin); took > most || most > 0 && took == 0 {
				t.Errorf("%s took %v, want up to %v", what, took, most)
			}
		}
		await("no write", object.Token{}, 0)
		await("a write that leaves the selection", object.TokenOf(podResource, server.Pods.Update(labelled("shop", "blue", nil))), 0)
		same(t, "objects", len(informertest.Names(pods)), 0)
		await("a write outside of the selection", object.TokenOf(podResource, server.Pods.Create(pod("shop", "red", ""))), time.Minute)
		outside := object.TokenOf(podResource, server.Move("red", "node-1"))
		server.Pods.Create(labelled("shop", "green", map[string]string{"of": "mine"}))
		await("a write outside of the selection, before an event", outside, 0)
		shutdown(t, f)
	})
}

// TestAfterToken has the tokens of an update and of a delete, the zero Token, and wrong ones.
func TestAfterToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""), pod("shop", "red", ""))
		f := server.Factory(t)
		pods := podsOf(f)
		run(t, f)
		var log []string
		var mu sync.Mutex
		after := func(what string, token object.Token) (stop func() bool) {
			t.Helper()
			stop, err := pods.AfterToken(token, func() {
				mu.Lock()
				defer mu.Unlock()
				log = append(log, what)
			})
			noError(t, err)
			return stop
		}
		saw := func(lines ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(log)
			same(t, "called", log, lines)
			log = nil
		}
		end := server.Outage()
		synctest.Wait()
		after("no write", object.Token{})
		after("a write", object.TokenOf(podResource, server.Move("blue", "node-1")))
		gone := object.TokenOf(podResource, server.Pods.Delete("shop", "red"))
		gone.Gone = true
		after("a deletion", gone)
		stop := after("nothing", gone)
		saw("no write")
		if !stop() {
			t.Error("stop() = false, want true")
		}
		end()
		pass(time.Minute)
		saw("a deletion", "a write")
		for want, token := range map[string]object.Token{
			"informer pods/v1: AfterToken: the token of shop/blue has no resourceVersion": {Resource: podResource, Key: object.Key{Namespace: "shop", Name: "blue"}},
			"informer pods/v1: AfterToken: the function is nil":                           {},
		} {
			_, err := pods.AfterToken(token, nil)
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		shutdown(t, f)
	})
}

// TestLeaseWaitsForItsOwnRun shows that a new lease of a stopped informer, which keeps its objects,
// waits for those of the server.
func TestLeaseWaitsForItsOwnRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods := newPods(t, server.Source(t), informer.WithName("pods"))
		first := acquire(t.Context(), t, pods)
		if err := first.WaitForCacheSync(t.Context()); err != nil || !first.HasSynced() {
			t.Fatal(err)
		}
		noError(t, first.Release(t.Context()))
		end := server.Outage()
		second := acquire(t.Context(), t, pods)
		pass(time.Second)
		if !pods.HasSynced() || second.HasSynced() {
			t.Errorf("the informer has synced: %v, the lease: %v; want true, false", pods.HasSynced(), second.HasSynced())
		}
		err := second.WaitForCacheSync(t.Context(), informer.FailOn(reason.Unreachable))
		if err == nil || !strings.Contains(err.Error(), "1 of 1 informers not synced") {
			t.Error(err)
		}
		end()
		server.Pods.Create(pod("shop", "red", ""))
		noError(t, second.WaitForCacheSync(t.Context()))
		same(t, "objects", informertest.Names(pods), []string{"shop/blue", "shop/red"})
		noError(t, second.Release(t.Context()))
	})
}
