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

// TestLogCountsWhatItHolds: however many objects there are, and whatever a change moves in indexes.
// A log that counts too little outgrows its bytes; one that counts too much is too short.
func TestLogCountsWhatItHolds(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("what counts is what 64 bits take")
	}
	for _, objects := range []int{20, 1000, 100_000} {
		for name, moves := range map[string]moved{
			"nothing": {},
			"a field": {field: true},
		} {
			t.Run(fmt.Sprint(objects, " objects, a change moves ", name), func(t *testing.T) {
				held, counted := changeMemoryOf(t, objects, moves)
				if counted < held || counted > held*3/2 {
					t.Errorf("a change holds %d bytes, and counts as %d", held, counted)
				}
			})
		}
	}
}

// BenchmarkChangeMemory reports how much memory a change holds besides the objects, and as how much
// it counts.
func BenchmarkChangeMemory(b *testing.B) {
	for _, objects := range []int{1000, 1_000_000} {
		for name, moves := range map[string]moved{"nothing": {}, "a field": {field: true}} {
			b.Run(fmt.Sprintf("objects=%d/moves=%s", objects, name), func(b *testing.B) {
				for range b.N {
					held, counted := changeMemoryOf(b, objects, moves)
					b.ReportMetric(float64(held), "B-held")
					b.ReportMetric(float64(counted), "B-counted")
				}
			})
		}
	}
}

// moved is what changes move in the indexes.
type moved struct{ field bool }

// changeMemoryOf fills a cache, changes objects at random, and returns how much memory each change
// holds besides the objects and the entries of the indexes, and as how much it counts.
func changeMemoryOf(t testing.TB, objects int, moves moved) (held, counted int64) {
	const changes = 4000
	c, err := New(Config{Storage: noStorage{}, Bytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	of := func(i int, version uint64, value string) *Object {
		o := &Object{Key: fmt.Sprintf("default/w%07d", i), Version: version, Labels: Pairs{{"app", "x"}}, Fields: Pairs{{"node", "n"}}}
		if moves.field {
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

// entryMemory returns how much memory the entries take that a change adds to the indexes.
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

// noStorage is the storage of a cache that does not run.
type noStorage struct{ Storage }
