// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestTableAgainstModel makes random changes to a table and to a map, and compares them. Some
// versions are compared again at the end. The cases differ in the number of objects per key.
func TestTableAgainstModel(t *testing.T) {
	for _, tc := range []struct {
		name               string
		names, keys, steps int
		batch              int
	}{
		{"few objects", 40, 8, 1500, 6},
		{"many keys", 2000, 1500, 40, 400},
		{"few keys", 4000, 3, 18, 4000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &worker{rand: newRand(t), names: tc.names, keys: tc.keys, model: model{}}
			w.indexes = []*testIndex{byKeys("keys"), byGroup("group")}
			var err error
			if w.table, err = New(w.indexes[0], w.indexes[1]); err != nil {
				t.Fatal(err)
			}
			type moment struct {
				v       *Version
				m       model
				indexes []*testIndex
			}
			var history []moment
			for step := range tc.steps {
				w.step(t, tc.batch)
				v := w.table.Version()
				checkShape(t, v)
				if step%max(tc.steps/100, 1) == 0 && w.rand.IntN(3) == 0 {
					verify(t, v, w.model, w.indexes...)
				}
				if step%(tc.steps/6) == 0 {
					history = append(history, moment{v, maps.Clone(w.model), slices.Clone(w.indexes)})
				}
			}
			for _, h := range history {
				verify(t, h.v, h.m, h.indexes...)
				checkShape(t, h.v)
			}
		})
	}
}

// worker makes the same changes to a table and to a model.
type worker struct {
	rand        *rand.Rand
	names, keys int
	table       *Table
	model       model
	indexes     []*testIndex
	version     int
}

func (w *worker) step(t *testing.T, batch int) {
	x := w.table.Begin()
	m := maps.Clone(w.model)
	n := w.rand.IntN(batch) + 1
	switch w.rand.IntN(10) {
	case 0: // a relist
		x.StartReplace()
		if w.rand.IntN(4) == 0 {
			w.write(t, x, m, 1, nil)
			x.StartReplace() // the first list failed
		}
		stay := map[object.Key]bool{}
		for key := range m {
			if w.rand.IntN(3) == 0 {
				stay[key] = x.Keep(key)
			}
		}
		w.write(t, x, m, n, stay)
		deleted := map[object.Key]bool{}
		x.Sweep("", func(old object.Object) {
			key := object.KeyOf(old)
			if m[key] != old || deleted[key] {
				t.Fatalf("Sweep reports %v twice, or not its last state", key)
			}
			deleted[key] = true
		})
		for key := range m {
			if deleted[key] == stay[key] {
				t.Fatalf("%v: listed %v, deleted %v", key, stay[key], deleted[key])
			}
			if deleted[key] {
				delete(m, key)
			}
		}
	case 1: // a purge
		for key := range m {
			if w.rand.IntN(5) != 0 {
				w.delete(t, x, m, key)
			}
		}
	case 2:
		if len(w.indexes) < 4 {
			ix := byKeys(fmt.Sprintf("late %d", len(w.indexes)))
			w.write(t, x, m, n/2, nil)
			if err := x.AddIndex(ix); err != nil {
				t.Fatal(err)
			}
			w.indexes = append(w.indexes, ix)
			w.write(t, x, m, n/2, nil)
			w.publish(t, x, m)
			return
		}
	default:
		w.write(t, x, m, n, nil)
	}
	if w.rand.IntN(5) == 0 {
		before := w.table.Version()
		x.SetResourceVersion("discarded")
		x.Discard()
		x.Discard() // does nothing
		if w.table.Version() != before {
			t.Fatal("Discard has changed the newest version")
		}
		return
	}
	w.publish(t, x, m)
}

func (w *worker) publish(t *testing.T, x Txn, m model) {
	w.version++
	x.SetResourceVersion(fmt.Sprint(w.version))
	if x.Len() != len(m) {
		t.Fatalf("Txn.Len() = %d, want %d", x.Len(), len(m))
	}
	if w.rand.IntN(30) == 0 { // only the Txn sees its changes
		verify(t, x.content(), m, w.indexes...)
		if was := w.table.Version(); was.Len() != len(w.model) || was.ResourceVersion() == fmt.Sprint(w.version) {
			t.Fatal("an open Txn has changed the newest version")
		}
	}
	v := x.Publish()
	if w.table.Version() != v || v.ResourceVersion() != fmt.Sprint(w.version) {
		t.Fatal("Publish returned another version than the newest")
	}
	w.model = m
}

// write sets and deletes n objects.
func (w *worker) write(t *testing.T, x Txn, m model, n int, listed map[object.Key]bool) {
	for range n {
		key := object.Key{Namespace: []string{"", "a", "b", "c"}[w.rand.IntN(4)]}
		key.Name = fmt.Sprintf("%c%d", 'a'+w.rand.IntN(3), w.rand.IntN(w.names))
		if w.rand.IntN(4) == 0 {
			w.delete(t, x, m, key)
			delete(listed, key)
			continue
		}
		var keys []string
		for range w.rand.IntN(4) {
			keys = append(keys, fmt.Sprint(w.rand.IntN(w.keys)))
		}
		if w.rand.IntN(100) == 0 {
			for i := range 40 {
				keys = append(keys, fmt.Sprint(i*w.rand.IntN(w.keys)))
			}
		}
		obj := newThing(key.Namespace, key.Name, keys...)
		if old, ok := m[key]; ok && w.rand.IntN(2) == 0 {
			obj.Finalizers = old.(*thing).Finalizers
		}
		old, replaced := x.Set(obj)
		if want, ok := m[key]; ok != replaced || old != want {
			t.Fatalf("Set(%v) = %p %v, want %p %v", key, old, replaced, want, ok)
		}
		m[key] = obj
		if got, ok := x.Get(key); !ok || got != object.Object(obj) {
			t.Fatalf("Get(%v) after Set = %p %v", key, got, ok)
		}
		if listed != nil {
			listed[key] = true
		}
	}
}

func (w *worker) delete(t *testing.T, x Txn, m model, key object.Key) {
	old, ok := x.Delete(key)
	if want, has := m[key]; ok != has || old != want {
		t.Fatalf("Delete(%v) = %p %v, want %p %v", key, old, ok, want, has)
	}
	delete(m, key)
	if _, ok := x.Get(key); ok {
		t.Fatalf("Get(%v) after Delete finds the object", key)
	}
}

// TestReadersWhileWriting publishes batches, each object with the number of its batch. A reader
// that sees two numbers, or another number of objects, has seen an incomplete batch. Readers also
// read an old version. The test is meant for the race detector.
func TestReadersWhileWriting(t *testing.T) {
	const objects, batches = 300, 300
	number := &testIndex{id: ID{Name: "number"}, keys: func(o *thing) []any { return []any{o.Generation} }}
	table, err := New(number)
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			var last int64
			newest, old := table.Version(), table.Version()
			for round := 0; !done.Load(); round++ {
				v := table.Version()
				if round%20 == 0 {
					newest, old = v, newest
				}
				if round%2 == 0 {
					v = old
				}
				n, number1 := 0, int64(0)
				for obj := range v.All {
					if n++; n == 1 {
						number1 = obj.GetGeneration()
					}
					if obj.GetGeneration() != number1 || v.ResourceVersion() != fmt.Sprint(number1) {
						t.Errorf("object of batch %d in a version of batch %d with resourceVersion %s", obj.GetGeneration(), number1, v.ResourceVersion())
						return
					}
				}
				if n == 0 {
					continue
				}
				if list, _ := lookup(v, number, number1); len(list) != n || v.Len() != n || v.Namespace("ns").Len() != n {
					t.Errorf("%d objects by index, %d by Len, %d by namespace, want %d", len(list), v.Len(), v.Namespace("ns").Len(), n)
					return
				}
				if v != old {
					if number1 < last {
						t.Errorf("a reader sees batch %d after batch %d", number1, last)
						return
					}
					last = number1
				}
			}
		})
	}
	for batch := range int64(batches) {
		x := table.Begin()
		for i := range objects - int(batch)%7 {
			x.Set(&thing{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(i), Generation: batch + 1}})
		}
		for i := objects - int(batch)%7; i < objects; i++ {
			x.Delete(object.Key{Namespace: "ns", Name: fmt.Sprint(i)})
		}
		x.SetResourceVersion(fmt.Sprint(batch + 1))
		x.Publish()
	}
	done.Store(true)
	group.Wait()
}
