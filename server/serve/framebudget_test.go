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

// slowWatches is a handler in a bubble, whose clients read only when told to.
type slowWatches struct {
	*testing.T
	storage      *memory.Storage
	handler      http.Handler
	setProtocols func(*http.Protocols)
}

func newSlowWatches(t *testing.T, setProtocols func(*http.Protocols), slowBytes int64) *slowWatches {
	storage, handler, run := newBubbleRigOf(t, watchcache.Config{Bytes: 1 << 20}, func(c *serve.Config) { c.SlowBytes = slowBytes })
	run()
	return &slowWatches{t, storage, handler, setProtocols}
}

// watch opens a watch from the newest version, on its own connection.
func (s *slowWatches) watch() *bufio.Reader {
	resp, err := connect(s.T, s.handler, s.setProtocols).Get(fmt.Sprintf("http://api%s?watch=true&resourceVersion=%d", widgets, s.storage.Version()))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { resp.Body.Close() })
	synctest.Wait()
	return bufio.NewReader(resp.Body)
}

// create stores an object of the given size in KiB.
func (s *slowWatches) create(name string, kib int) {
	createWidget(s.T, s.storage, name, fmt.Sprintf(`,"text":%q`, strings.Repeat("x", kib<<10)))
}

// TestSlowWatchesShareEvents shows that watches that don't read share one copy of each event.
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
			t.Errorf("%d watches keep %d KiB for an event of %d KiB", watches, grown>>10, size)
		}
	})
}

// TestSlowestWatchEnds shows that of two watches that don't read, the one that keeps more ends
// when SlowBytes is exceeded. The other one gets its event when it reads.
func TestSlowestWatchEnds(t *testing.T) {
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		s := newSlowWatches(t, setProtocols, 8<<20)
		first := s.watch()
		s.create("a", 5<<10) // more than the window of a stream
		second := s.watch()
		s.create("b", 9<<9)
		if line, err := first.ReadBytes('\n'); err == nil {
			t.Errorf("the watch that keeps more got all %d bytes, want its end", len(line))
		}
		wantEvent(t, second, "b")
	})
}

// wantEvent expects an event about a widget.
func wantEvent(t *testing.T, from *bufio.Reader, name string) {
	t.Helper()
	line, err := from.ReadBytes('\n')
	if err != nil || !strings.Contains(string(line), fmt.Sprintf(`"name":%q`, name)) {
		t.Errorf("got %.200s, %v; want an event about %s", line, err, name)
	}
}
