// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"net/http"
	"testing"

	"github.com/informer-gen/informer-gen/server/serve"
)

// TestOneCallerCannotTakeAllWatches shows that the last quarter of MaxWatches is for callers with
// few watches.
func TestOneCallerCannotTakeAllWatches(t *testing.T) {
	r := newRig(t, serve.Config{MaxWatches: 8}, true)
	watch := func(token string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL+widgets+"?watch=true&resourceVersion=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", token)
		resp, err := r.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp.StatusCode
	}
	for n := range 6 {
		if code := watch("Bearer greedy"); code != http.StatusOK {
			t.Errorf("watch %d of the greedy caller: got %d, want 200", n, code)
		}
	}
	if code := watch("Bearer greedy"); code != http.StatusTooManyRequests {
		t.Errorf("one more watch of the greedy caller: got %d, want 429", code)
	}
	for _, other := range []string{"Bearer one", "Bearer two"} {
		if code := watch(other); code != http.StatusOK {
			t.Errorf("%s: got %d, want 200", other, code)
		}
	}
	if code := watch("Bearer three"); code != http.StatusTooManyRequests {
		t.Errorf("beyond MaxWatches: got %d, want 429", code)
	}
}
