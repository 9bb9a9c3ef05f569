// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/watch"
)

// TestLogMemoryEstimate compares the log's size estimate with the heap, for different numbers of
// objects and changes of indexes. A log with a low estimate outgrows its limit; one with a high
// estimate is too short.
func TestLogMemoryEstimate(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("the estimates are for 64-bit platforms")
	}
	for _, objects := range []int{20, 1000, 100_000} {
		for name, moves := range map[string]indexChange{
			"no index": {},
			"a field":  {field: true},
		} {
			t.Run(fmt.Sprint(objects, " objects, changes of ", name), func(t *testing.T) {
				held, counted := changeMemoryOf(t, objects, moves)
				if counted < held || counted > held*3/2 {
					t.Errorf("the estimate for a change is %d bytes, want %d to %d", counted, held, held*3/2)
				}
			})
		}
	}
}

// BenchmarkChangeMemory reports the memory of a change without its objects, and the log's estimate.
func BenchmarkChangeMemory(b *testing.B) {
	for _, objects := range []int{1000, 1_000_000} {
		for name, moves := range map[string]indexChange{"none": {}, "field": {field: true}} {
			b.Run(fmt.Sprintf("objects=%d/index=%s", objects, name), func(b *testing.B) {
				for range b.N {
					held, counted := changeMemoryOf(b, objects, moves)
					b.ReportMetric(float64(held), "B-held")
					b.ReportMetric(float64(counted), "B-counted")
				}
			})
		}
	}
}

// indexChange selects the index that changes affect.
type indexChange struct{ field bool }

// changeMemoryOf fills a cache and changes objects at random. It returns the memory of a change,
// without objects and index entries, and the log's estimate of it.
func changeMemoryOf(t testing.TB, objects int, change indexChange) (held, counted int64) {
	const changes = 4000
	c, err := New(Config{Storage: noStorage{}, Bytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	of := func(i int, version uint64, value string) *Object {
		o := &Object{Key: fmt.Sprintf("default/w%07d", i), Version: version, Labels: Pairs{{"app", "x"}}, Fields: Pairs{{"node", "n"}}}
		if change.field {
			o.Fields[0].Value = value
		}
		return o
	}
	random := rand.New(rand.NewPCG(1, 2))
	var all []*Object
	for i := range objects {
		all = append(all, of(i, uint64(i+1), fmt.Sprint("v", random.IntN(1000))))
	}
	c.replace(all, uint64(objects), false)
	all = nil
	var next []*Object
	for i := range changes {
		next = append(next, of(random.IntN(objects), uint64(objects+i+1), fmt.Sprint("v", random.IntN(1000))))
	}
	entries := int64(0)
	before := heapBytes()
	for _, o := range next {
		old := c.head.Load().state.get(o.Key)
		counted -= old.memory()
		entries += entryMemory(old, o)
		if err := c.apply(Event{Type: watch.Modified, Object: o, Version: o.Version}); err != nil {
			t.Fatal(err)
		}
	}
	held = heapBytes() - before - entries
	counted += c.log.memory()
	runtime.KeepAlive(c)
	runtime.KeepAlive(next)
	return held / changes, counted / changes
}

// entryMemory returns the memory of the index entries that a change adds.
func entryMemory(old, o *Object) (n int64) {
	o.fieldEntries(old, func(e indexEntry) { n += int64(cap([]byte(e))) })
	return n
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// noStorage is the storage of a cache that doesn't run.
type noStorage struct{ Storage }
