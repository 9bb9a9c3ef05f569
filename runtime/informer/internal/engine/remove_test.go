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

var removals = flag.Int("removals", 10_000, "how many handlers TestNoCallbackStartsAfterRemove removes")

// TestNoCallbackStartsAfterRemove removes idle handlers while single events are published.
func TestNoCallbackStartsAfterRemove(t *testing.T) {
	const together = 200
	f := newFeed(someObjects(1, 1))
	i := f.start(t)
	var late atomic.Int64
	done, version := 0, 1_000_000
	for ; done < *removals; done += together {
		start := make(chan struct{})
		var group sync.WaitGroup
		for n := range together {
			h := &removable{late: &late, removed: make(chan struct{})}
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
				obj := thing("a")
				obj.SetResourceVersion(strconv.Itoa(version))
				group.Go(func() {
					<-start
					f.do(func(tell func(source.Event[object.Object]) error) error {
						return tell(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: obj.GetResourceVersion()})
					})
				})
			}
		}
		close(start)
		group.Wait()
	}
	if n := late.Load(); n > 0 {
		t.Errorf("%d callbacks of %d removed handlers have started after Remove has returned", n, done)
	}
}

// removable is a handler that counts calls that come after it was removed.
type removable struct {
	removed chan struct{} // closed after Remove has returned
	late    *atomic.Int64
}

func (h *removable) call() {
	if outcome.Closed(h.removed) {
		h.late.Add(1)
	}
}

func (h *removable) OnAdd(object.Object, bool)             { h.call() }
func (h *removable) OnUpdate(object.Object, object.Object) { h.call() }
func (h *removable) OnDelete(fanout.Deleted)               { h.call() }
