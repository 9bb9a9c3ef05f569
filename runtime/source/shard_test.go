// SPDX-License-Identifier: Apache-2.0

package source

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// TestShardWithoutServerSupport: the result is the same if the server ignores the parameter.
func TestShardWithoutServerSupport(t *testing.T) {
	half := func(i int) string {
		return []string{
			"shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
			"shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
		}[i]
	}
	var items []string
	for i := range 50 {
		uid := fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)})) // real ones are random
		items = append(items, strings.Replace(podtest.Large(i+1), `"uid":"`, `"uid":"`+uid, 1))
	}
	seen := map[string]int{}
	for i := range 2 {
		c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
			if got := req.URL.Query().Get("shardSelector"); got != half(i) {
				t.Errorf("shardSelector is %q, want %q", got, half(i))
			}
			if !req.URL.Query().Has("watch") {
				return answer(200, podtest.List("7", items...)), nil
			}
			var events strings.Builder
			for _, item := range items {
				events.WriteString(podtest.Event("ADDED", podtest.WithKind(item)))
			}
			return answer(200, events.String()+podtest.Bookmark), nil
		})
		s := sourceOf[*corev1.Pod](t, c, pods, Options{ShardSelector: half(i)})
		if want := fmt.Sprintf("pods/v1 in shard %q", half(i)); s.String() != want {
			t.Errorf("String() = %s, want %s", s, want)
		}
		list, result, err := listAll(s)
		if err != nil || result.Skipped != 50-len(list) {
			t.Fatalf("%d of 50 Pods, %+v, %v", len(list), result, err)
		}
		events, err := watchAll(s)
		if err != nil || events[len(events)-1].Type != Bookmark {
			t.Fatalf("%d events for %d Pods, %v", len(events), len(list), err)
		}
		if events = withoutBookmarks(events); len(events) != len(list) {
			t.Fatalf("%d events for %d Pods", len(events), len(list))
		}
		for j, p := range list {
			seen[p.Name]++
			if events[j].Object.Name != p.Name {
				t.Errorf("event %d has object %s, want %s", j, events[j].Object.Name, p.Name)
			}
		}
		if len(list) < 5 || len(list) > 45 {
			t.Errorf("shard %d has %d of 50 Pods", i, len(list))
		}
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s is in %d shards, want 1", name, n)
		}
	}
	if len(seen) != 50 {
		t.Errorf("%d Pods in all shards, want 50", len(seen))
	}
}
