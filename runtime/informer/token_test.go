// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// A selector that excludes an object leaves the informer without an event of its write: the next
// bookmark ends the wait, or a later event. A write that takes an object out of the selector is
// one.
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
		await("out of the selector", object.TokenOf(podResource, server.Pods.Update(labelled("shop", "blue", nil))), 0)
		same(t, "objects", len(informertest.Names(pods)), 0)
		await("outside of the selector", object.TokenOf(podResource, server.Pods.Create(pod("shop", "red", ""))), time.Minute)
		outside := object.TokenOf(podResource, server.Move("red", "node-1"))
		server.Pods.Create(labelled("shop", "green", map[string]string{"of": "mine"}))
		await("outside of the selector, before an event", outside, 0)
		shutdown(t, f)
	})
}
