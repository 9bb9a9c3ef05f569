// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestQuickHandlersGetEveryEvent sends 200,000 events of 1,000 objects as fast as they are read:
// one at a time, and as if more had come with each. Handlers that only count get each of them. On a
// machine that stands still meanwhile, no handler is quick: then it is all sent again.
func TestQuickHandlersGetEveryEvent(t *testing.T) {
	for _, handlers := range []int{1, 3} {
		for _, more := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d handlers, more %v", handlers, more), func(t *testing.T) {
				for tries := 1; ; tries++ {
					missed, pause := sendToQuick(t, handlers, more)
					if missed == 0 {
						return
					}
					if pause < patience/2 || tries == 10 {
						t.Fatalf("%d calls too few; the longest pause was %v", missed, pause)
					}
				}
			})
		}
	}
}

// sendToQuick returns how many calls handlers have missed, and for how long the process stood still
// meanwhile.
func sendToQuick(t *testing.T, handlers int, more bool) (missed int, pause time.Duration) {
	const sent, objects = 200_000, 1000
	f := newFeed(someObjects(objects, 1))
	i := f.start(t)
	counts := make([]*counter, handlers)
	for n := range counts {
		counts[n] = count(objects + sent)
		if _, err := i.AddHandler(counts[n], HandlerConfig{Threshold: 1024}); err != nil {
			t.Fatal(err)
		}
	}
	events := make([][]object.Object, 2)
	for lap := range events {
		events[lap] = someObjects(objects, (lap+2)*1_000_000)
	}
	longest := watchPauses()
	f.do(func(tell func(source.Event[object.Object]) error) error {
		for n := range sent {
			obj := events[n/objects%2][n%objects]
			if err := tell(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: f.version, More: more && n < sent-1}); err != nil {
				return err
			}
		}
		return nil
	})
	// What is left to deliver can only be polled. Calls that are missing are no longer waited for
	// once nothing has been left in look after look.
	for idle := 0; idle < 500 && !allCalled(counts); idle++ {
		for _, h := range i.Handlers() {
			if h.Backlog > 0 || h.Callback != "" {
				idle = 0
			}
		}
		time.Sleep(time.Millisecond)
	}
	for _, c := range counts {
		missed += c.left
	}
	return missed, longest()
}

func allCalled(counts []*counter) bool {
	for _, c := range counts {
		if !closed(c.done) {
			return false
		}
	}
	return true
}

// watchPauses begins to look for pauses of the process, and returns a function that ends that, and
// returns the longest one.
func watchPauses() (end func() time.Duration) {
	over, found := make(chan struct{}), make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for !closed(over) {
			before := time.Now()
			time.Sleep(time.Millisecond) // takes as much longer as the process stands still
			longest = max(longest, time.Since(before))
		}
		found <- longest
	}()
	return func() time.Duration {
		close(over)
		return <-found
	}
}
