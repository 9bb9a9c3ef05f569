// SPDX-License-Identifier: Apache-2.0

//go:build !race

// The race detector allocates for its own purposes.

package engine

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestEventsAllocateLittle counts the allocations of an event on its way from the source to all
// handlers: the next version of the table and the entry in the log, for any number of handlers. In
// a burst it is next to nothing.
func TestEventsAllocateLittle(t *testing.T) {
	for _, test := range []struct {
		handlers, burst int
		most            float64
	}{{0, 1, 1.1}, {1, 1, 6.1}, {10, 1, 6.1}, {1, 1000, 0.4}, {10, 1000, 0.4}, {10, 3, 2.4}} {
		t.Run(fmt.Sprintf("%d handlers, bursts of %d", test.handlers, test.burst), func(t *testing.T) {
			const sent = 12_000
			e := newEventStream(t, 1000, test.handlers, 2)
			var before, after runtime.MemStats
			e.source.do(func(send func(source.Event[object.Object]) error) error {
				for range sent / test.burst {
					e.send(test.burst, send) // allocates goroutines and buffers that stay
				}
				runtime.ReadMemStats(&before)
				for range sent / test.burst {
					e.send(test.burst, send)
				}
				runtime.ReadMemStats(&after)
				return nil
			})
			allocs, bytes := float64(after.Mallocs-before.Mallocs)/sent, (after.TotalAlloc-before.TotalAlloc)/sent
			if allocs > test.most {
				t.Errorf("%.2f allocations per event, want at most %v", allocs, test.most)
			}
			t.Logf("%.2f allocations, %d bytes per event", allocs, bytes)
		})
	}
}
