// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const benchObjects = 100_000

// population returns n objects like a cluster's Pods, each in two states: in 100 namespaces and on
// 1,000 nodes, ten per owner.
func population(n int) (states [2][]*thing) {
	for i := range n {
		for state := range states {
			states[state] = append(states[state], &thing{ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprint("namespace-", i%100),
				Name:            fmt.Sprint("deployment-name-", i),
				GenerateName:    fmt.Sprint("owner-", i/10),
				ResourceVersion: fmt.Sprint("node-", i*7919%1000),
			}})
		}
	}
	return states
}

// field is a single-valued index over a string field.
type field struct {
	id    ID
	value func(*thing) string
}

func (f *field) ID() *ID      { return &f.id }
func (f *field) Check() error { return nil }

func (f *field) Changes(old, obj object.Object, c *Changes) {
	if old != nil && obj != nil && f.value(old.(*thing)) == f.value(obj.(*thing)) {
		return
	}
	if old != nil {
		key := f.value(old.(*thing))
		c.Leave(Hash(key), key)
	}
	if obj != nil {
		key := f.value(obj.(*thing))
		c.Enter(Hash(key), key)
	}
}

func nodeAndOwner() []Index {
	return []Index{
		&field{ID{"node"}, func(o *thing) string { return o.ResourceVersion }},
		&field{ID{"owner"}, func(o *thing) string { return o.GenerateName }},
	}
}

func filled(b testing.TB, objs []*thing, indexes ...Index) *Table {
	table, err := New(indexes...)
	if err != nil {
		b.Fatal(err)
	}
	commit(table, objs...)
	return table
}

// BenchmarkUpdate replaces one object and publishes; its index keys stay.
func BenchmarkUpdate(b *testing.B) {
	objs := population(benchObjects)
	for _, bc := range []struct {
		name    string
		indexes []Index
		batch   int
	}{
		{"NoIndex", nil, 1},
		{"TwoIndexes", nodeAndOwner(), 1},
		{"TwoIndexesBatch100", nodeAndOwner(), 100},
	} {
		b.Run(bc.name, func(b *testing.B) {
			table := filled(b, objs[0], bc.indexes...)
			r := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for i := 0; b.Loop(); {
				x := table.Begin()
				for range bc.batch {
					x.Set(objs[i&1][r.IntN(benchObjects)])
					i++
				}
				x.Publish()
				i += bc.batch - 1
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*bc.batch), "ns/object")
		})
	}
}

// BenchmarkMove moves one object to another node, its key in one of two indexes, and publishes.
func BenchmarkMove(b *testing.B) {
	objs := population(benchObjects)
	for _, obj := range objs[1] {
		obj.ResourceVersion += "0"
	}
	table := filled(b, objs[0], nodeAndOwner()...)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x := table.Begin()
		x.Set(objs[i&1][r.IntN(benchObjects)])
		x.Publish()
	}
}

// BenchmarkChurn deletes an object and publishes, inserts it again and publishes, with two indexes.
func BenchmarkChurn(b *testing.B) {
	objs := population(benchObjects)[0]
	table := filled(b, objs, nodeAndOwner()...)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		obj := objs[r.IntN(benchObjects)]
		x := table.Begin()
		x.Delete(object.KeyOf(obj))
		x.Publish()
		commit(table, obj)
	}
}

// BenchmarkFill builds a table of 100,000 objects with two indexes in one Txn.
func BenchmarkFill(b *testing.B) {
	objs := population(benchObjects)[0]
	b.ReportAllocs()
	for b.Loop() {
		filled(b, objs, nodeAndOwner()...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchObjects), "ns/object")
}

// BenchmarkGet gets random objects: among all, where cache misses dominate, and among a thousand.
func BenchmarkGet(b *testing.B) {
	objs := population(benchObjects)[0]
	table := filled(b, objs)
	for _, among := range []int{benchObjects, 1000} {
		b.Run(fmt.Sprint("Among", among), func(b *testing.B) {
			keys := make([]object.Key, 1<<16)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range keys {
				keys[i] = object.KeyOf(objs[r.IntN(among)])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, ok := table.Version().Get(keys[i%len(keys)]); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}

// BenchmarkAll iterates over all objects.
func BenchmarkAll(b *testing.B) {
	table := filled(b, population(benchObjects)[0])
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for range table.Version().All {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/object")
}

// BenchmarkLookup iterates over the 100 objects of one node.
func BenchmarkLookup(b *testing.B) {
	indexes := nodeAndOwner()
	table := filled(b, population(benchObjects)[0], indexes...)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		set, _ := table.Version().Lookup(indexes[0].ID(), Hash("node-7"), func(k any) bool { return k.(string) == "node-7" })
		for range set.All {
			n++
		}
	}
	if n != b.N*100 {
		b.Fatalf("Lookup yields %d objects, want 100", n/b.N)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
