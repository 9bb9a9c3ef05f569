// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"flag"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var removals = flag.Int("removals", 10_000, "how many handlers TestNoCallbackStartsAfterRemove removes")

// TestNoCallbackStartsAfterRemove removes idle handlers while a single event is published, which
// the pool hands to idle handlers. The goroutines that remove, and the one that publishes, wait for
// the pool's lock, and get it in turns, since all have waited for more than a millisecond (package
// sync). So if Remove released the lock between two steps, the event would be published between
// them.
func TestNoCallbackStartsAfterRemove(t *testing.T) {
	const atOnce = 200
	f := newFeed(someObjects(1, 1))
	i := f.start(t)
	var late atomic.Int64
	done, version := 0, 1_000_000
	for ; done < *removals; done += atOnce {
		handlers := make([]*removable, atOnce)
		for n := range handlers {
			h := &removable{late: &late, removed: make(chan struct{})}
			s, err := i.AddHandler(h, HandlerConfig{Threshold: 1024})
			if err != nil {
				t.Fatal(err)
			}
			<-s.Synced()
			h.sub, handlers[n] = s, h
		}
		version++
		obj := thing("a")
		obj.SetResourceVersion(strconv.Itoa(version))
		var group sync.WaitGroup
		i.pool.mu.Lock()
		for n, h := range handlers {
			group.Go(func() {
				h.sub.Remove()
				close(h.removed)
			})
			if n == atOnce/2 {
				group.Go(func() {
					f.do(func(tell func(source.Event[object.Object]) error) error {
						return tell(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: obj.GetResourceVersion()})
					})
				})
			}
		}
		time.Sleep(2 * time.Millisecond) // they wait for the lock
		i.pool.mu.Unlock()
		i.pool.mu.Lock()
		time.Sleep(time.Millisecond) // one has waited in vain: from now on they get it in turns
		i.pool.mu.Unlock()
		group.Wait()
	}
	if n := late.Load(); n > 0 {
		t.Errorf("%d callbacks of %d removed handlers have started after Remove has returned", n, done)
	}
}

// removable is a handler that counts calls that come after it was removed.
type removable struct {
	sub     *Subscription
	removed chan struct{} // closed after Remove has returned
	late    *atomic.Int64
}

func (h *removable) call() {
	if closed(h.removed) {
		h.late.Add(1)
	}
}

func (h *removable) OnAdd(object.Object, bool)             { h.call() }
func (h *removable) OnUpdate(object.Object, object.Object) { h.call() }
func (h *removable) OnDelete(Deleted)                      { h.call() }
