// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/server/serve"
)

// TestShards shows that, with Config.Shards, two halves have each object once; without it, each
// half has all objects.
func TestShards(t *testing.T) {
	t.Parallel() // watches take a second to end
	const first, second = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')", "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
	for _, served := range []bool{false, true} {
		r := newRig(t, serve.Config{Shards: served}, true)
		for i := range 20 {
			r.send(t, "POST", widgetsInA, widgetJSON(fmt.Sprintf("w%02d", i), "", "")) // random uid
		}
		for _, verb := range []string{"?shardSelector=", "?watch=true&timeoutSeconds=1&shardSelector="} {
			seen := map[string]int{}
			for _, half := range []string{first, second} {
				raw := body(t, r.get(t, widgets+verb+url.QueryEscape(half)))
				for i := range 20 {
					seen[fmt.Sprint(strings.Count(raw, fmt.Sprintf(`"name":"w%02d"`, i)))]++
				}
				if strings.Contains(raw, `"shardInfo":{"selector":"`+half+`"}`) != (served && !strings.Contains(verb, "watch")) {
					t.Errorf("shards %v: got %.200s, want shardInfo in lists only", served, raw)
				}
			}
			if want := map[bool]int{false: 40, true: 20}[served]; seen["1"] != want {
				t.Errorf("shards %v, %s: answers by the number of occurrences of a widget: %v, want %d with one", served, verb, seen, want)
			}
		}
		pages := body(t, r.get(t, widgets+"?limit=1&shardSelector="+url.QueryEscape(first))) +
			body(t, r.get(t, widgets+"?limit=1&shardSelector="+url.QueryEscape(second)))
		if strings.Contains(pages, "remainingItemCount") == served || !strings.Contains(pages, `"continue"`) {
			t.Errorf("shards %v: got the pages %s", served, pages)
		}
		got := describe(t, r.get(t, widgets+"?shardSelector=nonsense"))
		if strings.HasPrefix(got, `400 BadRequest "invalid shard selector: `) != served {
			t.Errorf("shards %v: a malformed selector got %s", served, got)
		}
	}
}

// TestFresh shows that Fresh is called for requests of the newest state, and for no others.
func TestFresh(t *testing.T) {
	t.Parallel() // watches take a second to end
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "one", "")
	calls, failure := 0, error(nil)
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Cache: r.cache, Writer: r.storage,
		Fresh: func(context.Context) error { calls++; return failure },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	address := r.serveHandler(t, handler)
	for _, row := range []struct {
		method, path, content string
		want                  int
	}{
		{"GET", widgetsInA, "", 1}, {"GET", widgetsInA + "?resourceVersion=0", "", 0}, {"GET", widgetsInA + "/one", "", 1}, {"GET", widgetsInA + "/one?resourceVersion=1", "", 0},
		{"GET", widgetsInA + "?watch=true&timeoutSeconds=1", "", 1}, {"GET", widgetsInA + "?watch=true&timeoutSeconds=1&resourceVersion=1", "", 0},
		{"POST", widgetsInA, widgetJSON("two", "", ""), 1}, {"DELETE", widgetsInA + "/one", "", 1},
	} {
		calls = 0
		body(t, r.sendTo(t, address, row.method, row.path, row.content))
		if calls != row.want {
			t.Errorf("%s %s: Fresh was called %d times, want %d", row.method, row.path, calls, row.want)
		}
	}
	failure = errors.New("no quorum")
	if got := describe(t, r.sendTo(t, address, "GET", widgetsInA, "")); got != `500 - "no quorum"` {
		t.Errorf("got %s, want 500 with the error of Fresh", got)
	}
}
