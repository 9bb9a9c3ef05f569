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

// slowState calls test for each protocol, in a bubble, with a handler that has 8 MiB of objects.
func slowState(t *testing.T, maxJoins int, test func(t *testing.T, get func(query, token string) *http.Response)) {
	overEach(t, func(t *testing.T, over func(*http.Protocols)) {
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) { c.MaxJoins = maxJoins })
		for i := range 8 {
			put(t, storage, fmt.Sprint("large", i), mebibyte)
		}
		run()
		client := connect(t, handler, over)
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

// TestAStateIsReadInTime: a client that reads a little now and then, so that no write takes long,
// does not keep a state for as long as it likes.
func TestAStateIsReadInTime(t *testing.T) {
	slowState(t, 0, func(t *testing.T, get func(query, token string) *http.Response) {
		for _, query := range []string{"", watchList} {
			resp, began := get(query, ""), time.Now()
			var err error
			for err == nil && time.Since(began) < 3*time.Minute {
				time.Sleep(5 * time.Second)
				_, err = io.CopyN(io.Discard, resp.Body, 100<<10)
			}
			if err == nil { // over HTTP/2, a part may be on the client's side by then
				_, err = io.Copy(io.Discard, resp.Body)
			}
			if took := time.Since(began); took < time.Minute || err == nil || err == io.EOF {
				t.Errorf("%q: after %v: %v", query, took, err)
			}
		}
	})
}

// TestOneCallerDoesNotTakeAllPlaces has a client that doesn't read its lists, and another one.
func TestOneCallerDoesNotTakeAllPlaces(t *testing.T) {
	slowState(t, 4, func(t *testing.T, get func(query, token string) *http.Response) {
		var got []int
		for range 4 {
			got = append(got, get("", "Bearer slow").StatusCode)
		}
		if fmt.Sprint(got) != "[200 200 200 429]" {
			t.Errorf("the slow client got %d", got)
		}
		resp := get("?limit=1", "Bearer other")
		if data, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || err != nil || !strings.Contains(string(data), "large0") {
			t.Errorf("the other one got %s, %.100s, %v", resp.Status, data, err)
		}
	})
}
