// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// testSlowJoin calls test for each protocol, in a bubble, with the answer to a watch-list whose
// client has read nothing while changes came, and left the log.
func testSlowJoin(t *testing.T, config watchcache.Config, test func(t *testing.T, storage *memory.Storage, resp *http.Response)) {
	const objects, size = 240, 32 << 10 // the window of a stream is 4 MB
	config.Age = 10 * time.Second
	text := `,"text":"` + strings.Repeat("x", size) + `"`
	overEach(t, func(t *testing.T, over func(*http.Protocols)) {
		storage, handler, run := newBubbleRigOf(t, config, func(c *serve.Config) { c.WriteTimeout, c.StateTimeout = time.Hour, time.Hour })
		run()
		for i := range objects {
			put(t, storage, fmt.Sprint("w", i), text)
		}
		resp, err := connect(t, handler, over).Get("http://api" + widgets + watchList + "&timeoutSeconds=300")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		synctest.Wait()
		for i := range 5 {
			put(t, storage, fmt.Sprint("new", i), text)
			name := fmt.Sprint("w", 20*i)
			if _, err := storage.Delete(t.Context(), "a/"+name, watchcache.Preconditions{}); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				put(t, storage, name, text)
			}
		}
		time.Sleep(time.Minute)
		put(t, storage, "last", text)
		test(t, storage, resp)
	})
}

// TestSlowJoinGetsTheDifference: a client that is sent its objects for longer than changes are kept
// comes to the newest state nevertheless, if slow watches are merged.
func TestSlowJoinGetsTheDifference(t *testing.T) {
	testSlowJoin(t, watchcache.Config{MergeSlow: true}, func(t *testing.T, storage *memory.Storage, resp *http.Response) {
		_, got := follow(t, resp, func(metav1.PartialObjectMetadata) bool { return false })
		objects, _, err := storage.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, o := range objects {
			want[o.Key[len("a/"):]] = fmt.Sprint(o.Version)
		}
		if !maps.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

// TestSlowJoinIsExpired: otherwise it ends with 410.
func TestSlowJoinIsExpired(t *testing.T) {
	testSlowJoin(t, watchcache.Config{}, func(t *testing.T, _ *memory.Storage, resp *http.Response) {
		raw, err := io.ReadAll(resp.Body)
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		if last := lines[len(lines)-1]; err != nil || !strings.HasPrefix(last, `{"type":"ERROR"`) || !strings.Contains(last, `"code":410`) {
			t.Errorf("after %d events: %.200s, %v", len(lines)-1, last, err)
		}
	})
}
