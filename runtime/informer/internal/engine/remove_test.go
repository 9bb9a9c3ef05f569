// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"flag"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var removals = flag.Int("removals", 10_000, "number of handlers that TestNoCallbackStartsAfterRemove removes")

// TestNoCallbackStartsAfterRemove removes idle handlers while single events are published.
func TestNoCallbackStartsAfterRemove(t *testing.T) {
	const together = 200
	f := newStepSource(someObjects(1, 1))
	i := f.start(t)
	var lateCalls atomic.Int64
	done, version := 0, 1_000_000
	for ; done < *removals; done += together {
		start := make(chan struct{})
		var group sync.WaitGroup
		for n := range together {
			h := &removedHandler{lateCalls: &lateCalls, removed: make(chan struct{})}
			s, err := i.AddHandler(h, fanout.HandlerConfig{Threshold: 1024})
			if err != nil {
				t.Fatal(err)
			}
			<-s.Synced()
			group.Go(func() {
				<-start
				s.Remove()
				close(h.removed)
			})
			if n%50 == 25 {
				version++
				obj := newObject("a")
				obj.SetResourceVersion(strconv.Itoa(version))
				group.Go(func() {
					<-start
					f.do(func(send func(source.Event[object.Object]) error) error {
						return send(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: obj.GetResourceVersion()})
					})
				})
			}
		}
		close(start)
		group.Wait()
	}
	if n := lateCalls.Load(); n > 0 {
		t.Errorf("%d callbacks of %d handlers have started after the return of Remove", n, done)
	}
}

// removedHandler is a handler that counts the calls after its removal.
type removedHandler struct {
	removed   chan struct{} // closed after the return of Remove
	lateCalls *atomic.Int64
}

func (h *removedHandler) call() {
	if outcome.Closed(h.removed) {
		h.lateCalls.Add(1)
	}
}

func (h *removedHandler) OnAdd(object.Object, bool)             { h.call() }
func (h *removedHandler) OnUpdate(object.Object, object.Object) { h.call() }
func (h *removedHandler) OnDelete(fanout.Deleted)               { h.call() }
