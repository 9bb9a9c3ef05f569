// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestQuickHandlersGetEveryEvent sends 200,000 events of 1,000 objects as fast as they are read,
// one at a time, or each marked as followed by more. Handlers that only count get each of them. In
// the bubble their callbacks take no time, however busy the machine is.
func TestQuickHandlersGetEveryEvent(t *testing.T) {
	const sent, objects = 200_000, 1000
	for _, handlers := range []int{1, 3} {
		for _, more := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%d handlers, more %v", handlers, more), func(t *testing.T) {
				f := newStepSource(someObjects(objects, 1))
				i := f.start(t)
				counts := make([]*counter, handlers)
				for n := range counts {
					counts[n] = newCounter(objects + sent)
					if _, err := i.AddHandler(counts[n], fanout.HandlerConfig{Threshold: 1024}); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait() // the handlers have got the initial objects
				events := make([][]object.Object, 2)
				for lap := range events {
					events[lap] = someObjects(objects, (lap+2)*1_000_000)
				}
				f.do(func(send func(source.Event[object.Object]) error) error {
					for n := range sent {
						obj := events[n/objects%2][n%objects]
						if err := send(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: f.version, More: more && n < sent-1}); err != nil {
							return err
						}
					}
					return nil
				})
				synctest.Wait()
				for n, c := range counts {
					if c.left != 0 {
						t.Errorf("handler %d lacks %d calls", n, c.left)
					}
				}
			})
		}
	}
}
