// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/server/serve"
)

// testSlowState runs test for each protocol, in a bubble, with a handler over 8 MiB of objects.
func testSlowState(t *testing.T, maxJoins int, test func(t *testing.T, get func(query, token string) *http.Response)) {
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) { c.MaxJoins = maxJoins })
		for i := range 8 {
			createWidget(t, storage, fmt.Sprint("large", i), oneMiB)
		}
		run()
		client := connect(t, handler, setProtocols)
		test(t, func(query, token string) *http.Response {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api"+widgets+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", token)
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { resp.Body.Close() })
			synctest.Wait()
			return resp
		})
	})
}

// TestStateTimeout shows that StateTimeout ends the answer to a client that reads slowly but
// steadily, so that no single write times out.
func TestStateTimeout(t *testing.T) {
	testSlowState(t, 0, func(t *testing.T, get func(query, token string) *http.Response) {
		for _, query := range []string{"", watchList} {
			resp, began := get(query, ""), time.Now()
			var err error
			for err == nil && time.Since(began) < 3*time.Minute {
				time.Sleep(5 * time.Second)
				_, err = io.CopyN(io.Discard, resp.Body, 100<<10)
			}
			if err == nil { // over HTTP/2, the client may have buffered a part
				_, err = io.Copy(io.Discard, resp.Body)
			}
			if took := time.Since(began); took < time.Minute || err == nil || err == io.EOF {
				t.Errorf("%q: the answer ended with %v after %v, want an error after a minute or more", query, err, took)
			}
		}
	})
}

// TestOneCallerCannotTakeAllJoins shows that a client that doesn't read its lists leaves room for
// another one.
func TestOneCallerCannotTakeAllJoins(t *testing.T) {
	testSlowState(t, 4, func(t *testing.T, get func(query, token string) *http.Response) {
		var got []int
		for range 4 {
			got = append(got, get("", "Bearer slow").StatusCode)
		}
		if fmt.Sprint(got) != "[200 200 200 429]" {
			t.Errorf("the slow client got %d, want [200 200 200 429]", got)
		}
		resp := get("?limit=1", "Bearer other")
		if data, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || err != nil || !strings.Contains(string(data), "large0") {
			t.Errorf("the other client got %s, %.100s, %v; want 200 with large0", resp.Status, data, err)
		}
	})
}
