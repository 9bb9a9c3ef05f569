// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type suite struct {
	Rig
	model map[object.Key]Object
	rv    int
}

func testEmpty(t *testing.T, s *suite) {
	if rv := s.Reader.Snapshot().ResourceVersion(); rv != "" {
		t.Errorf("ResourceVersion() of an empty Reader = %q, want \"\"", rv)
	}
	verify(t, s.Reader.Snapshot(), nil)
	verify(t, nil, nil)
	verify(t, new(store.Snapshot[Object]), nil)
}

func testRandom(t *testing.T, s *suite) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	type moment struct {
		snapshot *store.Snapshot[Object]
		model    map[object.Key]Object
		rv       string
	}
	var history []moment
	for step := range 60 {
		s.change(r, r.IntN(30)+1)
		snapshot := s.Reader.Snapshot()
		if got, want := snapshot.ResourceVersion(), strconv.Itoa(s.rv); got != want {
			t.Fatalf("ResourceVersion() = %q, want %q", got, want)
		} else if got := snapshot.NamespaceResourceVersion("a"); got != want {
			t.Fatalf("NamespaceResourceVersion() = %q, want %q", got, want)
		}
		verify(t, snapshot, s.model)
		if step%10 == 0 {
			history = append(history, moment{snapshot, maps.Clone(s.model), snapshot.ResourceVersion()})
		}
	}
	for _, h := range history {
		if got := h.snapshot.ResourceVersion(); got != h.rv {
			t.Errorf("the resourceVersion of an old Snapshot changed from %s to %s", h.rv, got)
		}
		verify(t, h.snapshot, h.model)
	}
}

func (s *suite) change(r *rand.Rand, n int) {
	set, deleted := map[object.Key]Object{}, map[object.Key]bool{}
	for range n {
		key := object.Key{Namespace: []string{"red", "green", "blue"}[r.IntN(3)], Name: fmt.Sprint("o", r.IntN(30))}
		s.rv++
		if r.IntN(3) == 0 {
			if s.model[key] != nil && set[key] == nil {
				deleted[key] = true
			}
			continue
		}
		if !deleted[key] {
			set[key] = newObject(key, s.rv, r)
		}
	}
	s.rv++
	s.Apply(slices.Collect(maps.Values(set)), slices.Collect(maps.Keys(deleted)), strconv.Itoa(s.rv))
	maps.Copy(s.model, set)
	maps.DeleteFunc(s.model, func(key object.Key, _ Object) bool { return deleted[key] })
}

func newObject(key object.Key, rv int, r *rand.Rand) Object {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.Itoa(rv), Labels: map[string]string{},
	}}
	if i := r.IntN(4); i > 0 {
		obj.Labels["color"] = []string{"", "red", "green"}[i-1]
	}
	if i := r.IntN(4); i > 0 {
		obj.Labels["size"] = strconv.Itoa(i)
	}
	var list []string
	for range r.IntN(4) {
		list = append(list, string(rune('a'+r.IntN(6))))
	}
	obj.Labels["tags"] = strings.Join(list, ".")
	return obj
}

func testBreak(t *testing.T, s *suite) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		s.change(r, 20)
	}
	snapshot := s.Reader.Snapshot()
	for what, seq := range map[string]iter.Seq[Object]{
		"All":       snapshot.All(),
		"Namespace": snapshot.Namespace("red"),
		"Select":    snapshot.Select(labels.SelectorFromSet(labels.Set{"color": "red"})),
		"Lookup":    byColor.Lookup(snapshot, "red"),
		"LookupIn":  byColor.LookupIn(snapshot, "red", "red"),
	} {
		all := len(slices.Collect(seq))
		if all < 3 {
			t.Fatalf("%s: only %d objects, too few for a loop with a break", what, all)
		}
		for stop := range all {
			n := 0
			for range seq {
				if n == stop {
					break
				}
				n++
			}
			if n != stop {
				t.Errorf("%s: break after %d objects, but it yielded %d", what, stop, n)
			}
		}
	}
	for obj := range snapshot.All() { // reads inside a loop
		if got, ok := snapshot.Get(object.KeyOf(obj)); !ok || got != obj {
			t.Fatalf("Get(%s) in a loop over All returned another object", object.KeyOf(obj))
		}
	}
	for range byColor.Keys(snapshot) {
		break
	}
}

func testMissing(t *testing.T, s *suite) {
	s.change(rand.New(rand.NewPCG(1, 1)), 20)
	snapshot := s.Reader.Snapshot()
	if obj, ok := snapshot.Get(object.Key{Namespace: "red", Name: "nobody"}); ok || obj != nil {
		t.Errorf("Get of a missing name = %v, %v", obj, ok)
	}
	if obj, ok := snapshot.Get(object.Key{Name: "o1"}); ok || obj != nil {
		t.Errorf("Get without the namespace = %v, %v", obj, ok)
	}
	for range snapshot.Namespace("nowhere") {
		t.Error("a missing namespace has an object")
	}
	if n := len(byColor.List(snapshot, "purple")) + byColor.Len(snapshot, "purple") + snapshot.NamespaceLen("nowhere"); n != 0 {
		t.Errorf("indexes have %d objects of missing keys, want none", n)
	}
	if n := len(byColor.ListIn(snapshot, "red", "purple")) + len(byColor.ListIn(snapshot, "nowhere", "red")); n != 0 {
		t.Errorf("indexes have %d objects of missing keys, want none", n)
	}
	for range snapshot.Select(labels.Nothing()) {
		t.Error("List with labels.Nothing() returned objects")
	}
}
