// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestLateChangesWhileReading moves objects between two keys, and discards some of the moves, while
// readers read the newest Version and those that they have kept. In each Version the keys of an
// object are those that it has there.
func TestLateChangesWhileReading(t *testing.T) {
	const steps = 300
	for _, n := range []int{2 * (lateMax + 2), 3 * fewMax} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			table, index, states := moving(t, n)
			r := newRand(t)
			var over atomic.Bool
			var readers sync.WaitGroup
			for range 2 {
				readers.Go(func() {
					var kept [8]*Version
					for i := 0; !over.Load(); i++ {
						kept[i%len(kept)] = table.Version()
						v := kept[i*5%len(kept)]
						if v == nil {
							continue
						}
						sum := 0
						for _, state := range []string{"state-0", "state-1"} {
							set, _ := v.Lookup(&index.id, Hash(state), func(key any) bool { return key.(string) == state })
							sum += set.Len()
							for obj := range set.All {
								if has := obj.(*thing).GenerateName; has != state {
									t.Errorf("an object of %s is found by %s", has, state)
								}
							}
						}
						if sum != n || v.Namespace("ns").Len() != n {
							t.Errorf("%d objects are found by their keys, and %d by their namespace, of %d", sum, v.Namespace("ns").Len(), n)
						}
					}
				})
			}
			for range steps {
				x := table.Begin()
				for range 1 + r.IntN(3) {
					state, which := r.IntN(2), r.IntN(n)
					if r.IntN(4) == 0 {
						x.Delete(object.KeyOf(states[0][which]))
					}
					x.Set(states[state][which])
				}
				if r.IntN(4) == 0 {
					x.Discard()
				} else {
					x.Publish()
				}
			}
			over.Store(true)
			readers.Wait()
			checkShape(t, table.Version())
		})
	}
}
