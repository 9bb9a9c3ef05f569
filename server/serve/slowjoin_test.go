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

// testSlowJoin runs test for each protocol, in a bubble, with the answer to a watch-list. The
// client has read nothing while changes entered and left the log.
func testSlowJoin(t *testing.T, config watchcache.Config, test func(t *testing.T, storage *memory.Storage, resp *http.Response)) {
	const objects, size = 240, 32 << 10 // the window of a stream is 4 MB
	config.Age = 10 * time.Second
	text := `,"text":"` + strings.Repeat("x", size) + `"`
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		storage, handler, run := newBubbleRigOf(t, config, func(c *serve.Config) { c.WriteTimeout, c.StateTimeout = time.Hour, time.Hour })
		run()
		for i := range objects {
			createWidget(t, storage, fmt.Sprint("w", i), text)
		}
		resp, err := connect(t, handler, setProtocols).Get("http://api" + widgets + watchList + "&timeoutSeconds=300")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		synctest.Wait()
		for i := range 5 {
			createWidget(t, storage, fmt.Sprint("new", i), text)
			name := fmt.Sprint("w", 20*i)
			if _, err := storage.Delete(t.Context(), "a/"+name, watchcache.Preconditions{}); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				createWidget(t, storage, name, text)
			}
		}
		time.Sleep(time.Minute)
		createWidget(t, storage, "last", text)
		test(t, storage, resp)
	})
}

// TestSlowJoinIsMerged shows that, with MergeSlow, a client reaches the newest state even if
// reading the initial events takes longer than changes stay in the log.
func TestSlowJoinIsMerged(t *testing.T) {
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
			t.Errorf("the client has %v\nwant %v", got, want)
		}
	})
}

// TestSlowJoinIsExpired shows that, without MergeSlow, such a watch ends with 410.
func TestSlowJoinIsExpired(t *testing.T) {
	testSlowJoin(t, watchcache.Config{}, func(t *testing.T, _ *memory.Storage, resp *http.Response) {
		raw, err := io.ReadAll(resp.Body)
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		if last := lines[len(lines)-1]; err != nil || !strings.HasPrefix(last, `{"type":"ERROR"`) || !strings.Contains(last, `"code":410`) {
			t.Errorf("after %d events, the watch ended with %.200s, %v; want an ERROR event with code 410", len(lines)-1, last, err)
		}
	})
}
