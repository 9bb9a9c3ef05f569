// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// slowWatches is a handler whose clients read nothing by themselves, in a bubble.
type slowWatches struct {
	*testing.T
	storage *memory.Storage
	handler http.Handler
	over    func(*http.Protocols)
}

func newSlowWatches(t *testing.T, over func(*http.Protocols), slowBytes int64) *slowWatches {
	storage, handler, run := newBubbleRigOf(t, watchcache.Config{Bytes: 1 << 20}, func(c *serve.Config) { c.SlowBytes = slowBytes })
	run()
	return &slowWatches{t, storage, handler, over}
}

// watch opens a watch of the changes from now on, with a connection of its own.
func (s *slowWatches) watch() *bufio.Reader {
	resp, err := connect(s.T, s.handler, s.over).Get(fmt.Sprintf("http://api%s?watch=true&resourceVersion=%d", widgets, s.storage.Version()))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { resp.Body.Close() })
	synctest.Wait()
	return bufio.NewReader(resp.Body)
}

// create makes an object of some KiB.
func (s *slowWatches) create(name string, kib int) {
	put(s.T, s.storage, name, fmt.Sprintf(`,"text":%q`, strings.Repeat("x", kib<<10)))
}

// TestSlowWatchesShareEvents: watches that don't read keep events once, not a copy each.
func TestSlowWatchesShareEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const watches, size = 40, 1 << 10 // KiB
		s := newSlowWatches(t, func(p *http.Protocols) { p.SetHTTP1(true) }, 0)
		for range watches {
			s.watch()
		}
		before := heap()
		s.create("large", size)
		if grown := heap() - before; grown > watches/4*size<<10 {
			t.Errorf("%d watches of an event of %d KiB take %d KiB", watches, size, grown>>10)
		}
	})
}

// TestTheSlowestWatchEnds: of two watches that don't read, the one that keeps more ends when both
// keep too much. The other one gets its event when it reads.
func TestTheSlowestWatchEnds(t *testing.T) {
	overEach(t, func(t *testing.T, over func(*http.Protocols)) {
		s := newSlowWatches(t, over, 8<<20)
		first := s.watch()
		s.create("a", 5<<10) // more than the window of a stream
		second := s.watch()
		s.create("b", 9<<9)
		if line, err := first.ReadBytes('\n'); err == nil {
			t.Errorf("the one that keeps the most got all %d bytes", len(line))
		}
		wantEvent(t, second, "b")
	})
}

// wantEvent reads an event about a widget.
func wantEvent(t *testing.T, from *bufio.Reader, name string) {
	t.Helper()
	line, err := from.ReadBytes('\n')
	if err != nil || !strings.Contains(string(line), fmt.Sprintf(`"name":%q`, name)) {
		t.Errorf("got %.200s, %v, want an event about %s", line, err, name)
	}
}
