// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

// TestLabelsWorthAnIndex counts, and looks at which labels are found worth an index: 100 objects
// are there.
func TestLabelsWorthAnIndex(t *testing.T) {
	var u labelUses
	const enough = indexAfter * 100
	counted := func(label string, n int) bool { return u.count(label, n, 100) }
	if counted("app", 99) || counted("app", enough-100) {
		t.Errorf("an index was made of a label for which %d objects were counted, want %d", enough-1, enough)
	}
	if !counted("app", 1) || counted("app", 1) {
		t.Errorf("an index is to be made once, after %d", enough)
	}
	if counted("tier", 100) {
		t.Error("an index was made of a label for which 100 objects were counted")
	}
	for i := range 1000 {
		counted("app", 50)
		if counted(fmt.Sprint("other", i), 100) {
			t.Error("an index was made of a label that one request had")
		}
	}
	if counted("app", 50) {
		t.Error("a label that half of the requests have has lost its index")
	}
	for i := range maxLabels - 1 {
		for range 2 * indexAfter {
			counted(fmt.Sprint("new", i), 100)
		}
	}
	for range remembered {
		counted("app", 100)
	}
	for range 4 * indexAfter {
		counted("late", 100)
	}
	indexes := u.worth(labelIndexes{{label: "app"}, {label: "new0"}, {label: "new1"}, {label: "late"}, {label: "tier"}})
	var got []string
	for _, index := range indexes {
		got = append(got, index.label)
	}
	if want := []string{"app", "new1", "late"}; !slices.Equal(got, want) {
		t.Errorf("labels with an index: %q, want %q: the newest one takes the place of one that was as useful as others", got, want)
	}
	if len(u.all) > maxLabels {
		t.Errorf("%d labels are counted, want at most %d", len(u.all), maxLabels)
	}
}

// script is a storage that has the objects that it is given, and emits events once.
type script struct {
	objects []*Object
	events  []Event
}

func (s *script) List(context.Context) ([]*Object, uint64, error) {
	return s.objects, uint64(len(s.objects)), nil
}

func (s *script) Watch(ctx context.Context, _ uint64, emit func(Event) error) error {
	for _, e := range s.events {
		if err := emit(e); err != nil {
			return err
		}
	}
	s.events = nil
	return ctx.Err()
}

// labelled returns object i of 1,000, of which each value of app has 100, and each of id one.
func labelled(i int, version uint64) *Object {
	return &Object{
		Key: fmt.Sprintf("ns%d/%03d", i%7, i), UID: "uid", Version: version,
		Labels: PairsOf(map[string]string{"app": fmt.Sprint("x", i/100), "id": fmt.Sprint(i), "tier": "web"}),
	}
}

func newLabelled(t *testing.T) (*Cache, *script) {
	t.Helper()
	s := &script{}
	for i := range 1000 {
		s.objects = append(s.objects, labelled(i, uint64(i+1)))
	}
	c, err := New(Config{Storage: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	return c, s
}

func selecting(set labels.Set) Filter { return Filter{Labels: labels.SelectorFromValidatedSet(set)} }

// TestIndexOfALabel lists by labels until there are indexes, and shows that lists, pages and
// initial events go by them, at the present version and at older ones. Labels that most objects
// have share a selector, and get no index that is of no use.
func TestIndexOfALabel(t *testing.T) {
	c, s := newLabelled(t)
	looked := func(f Filter, exact uint64) (label string, objects int) {
		t.Helper()
		filter, err := f.compile()
		if err != nil {
			t.Fatal(err)
		}
		state := c.head.Load().state
		if exact != 0 {
			h, err := c.exact(exact)
			if err != nil {
				t.Fatal(err)
			}
			state = h.state
		}
		by := state.from(filter, "", func(*Object) bool { objects++; return true })
		return by.label, objects
	}
	list := func(o ListOptions, want int) *List {
		t.Helper()
		l, err := c.List(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Objects) != want {
			t.Fatalf("a list has %d objects, want %d", len(l.Objects), want)
		}
		return l
	}
	x3, one := selecting(labels.Set{"app": "x3", "tier": "web"}), selecting(labels.Set{"id": "321"})
	list(ListOptions{Filter: x3}, 100)
	if label, n := looked(x3, 0); label != "" || n != 1000 {
		t.Errorf("after one list, the next one looks at %d objects, by %q", n, label)
	}
	for range 10 {
		list(ListOptions{Filter: x3, Limit: 10}, 10)
	}
	if len(c.head.Load().state.labels) != 0 {
		t.Error("ten pages of ten objects have made an index")
	}
	for range indexAfter {
		list(ListOptions{Filter: x3}, 100)
		w, err := c.Watch(t.Context(), WatchOptions{Filter: one, InitialEvents: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	for range 2 { // each list looks at nine tenths in vain
		list(ListOptions{Filter: x3}, 100)
	}
	if label, n := looked(x3, 0); label != "app" || n != 100 {
		t.Errorf("a list of a hundred objects looks at %d, by %q", n, label)
	}
	if label, n := looked(one, 0); label != "id" || n != 1 {
		t.Errorf("a list of one object looks at %d, by %q", n, label)
	}

	changed, gone := labelled(321, 1001), labelled(322, 1002)
	changed.Labels = PairsOf(map[string]string{"app": "x9", "id": "321"})
	s.events = []Event{{Type: watch.Modified, Object: changed, Version: 1001}, {Type: watch.Deleted, Object: gone, Version: 1002}}
	if err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	list(ListOptions{Filter: x3}, 98)
	list(ListOptions{Filter: x3, Exact: 1001}, 99)
	list(ListOptions{Filter: x3, Exact: 1000}, 100)
	if label, n := looked(x3, 1001); label != "app" || n != 99 {
		t.Errorf("a list of 99 objects at an older version looks at %d, by %q", n, label)
	}
	page := list(ListOptions{Filter: x3, Limit: 60}, 60)
	list(ListOptions{Filter: x3, Exact: page.Version, From: page.Continue}, 38)
	if label, n := looked(selecting(labels.Set{"id": "none"}), 0); label != "id" || n != 0 {
		t.Errorf("a list of no objects looks at %d, by %q", n, label)
	}
	in7 := selecting(labels.Set{"app": "x3"})
	in7.Namespace, in7.Name = "ns1", "351"
	if label, n := looked(in7, 0); label != "" || n != 1 {
		t.Errorf("a list of one name looks at %d objects, by %q", n, label)
	}
}

// TestIndexesOfLabelsWhileObjectsChange lists by labels from several goroutines while objects
// change, and the storage begins anew. All indexes are complete in the end.
func TestIndexesOfLabelsWhileObjectsChange(t *testing.T) {
	c, s := newLabelled(t)
	var listing sync.WaitGroup
	for worker := range 4 {
		listing.Go(func() {
			for i := range 100 {
				set := labels.Set{[...]string{"app", "id", "tier", "none"}[(worker+i/10)%4]: fmt.Sprint("x", i%10)}
				if _, err := c.List(t.Context(), ListOptions{Filter: selecting(set)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for version := uint64(1001); version < 3000; version++ {
		i := int(version*version) % 1000
		o := labelled(i, version)
		o.Labels = PairsOf(map[string]string{"app": fmt.Sprint("x", version%10), "id": fmt.Sprint(version)})
		e := Event{Type: watch.Modified, Object: o, Version: version}
		if version%5 == 0 {
			e.Type = watch.Deleted
		}
		s.events = append(s.events, e)
		if version%20 == 0 {
			if err := c.Poll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	listing.Wait()
	now := c.head.Load().state
	if !now.labels.has("app") || !now.labels.has("id") || !now.labels.has("none") {
		t.Errorf("labels with an index: %+v", now.labels)
	}
	var objects []*Object
	now.objects.from("", func(o *Object) bool { objects = append(objects, o); return true })
	wantSameIndexes(t, now, objectSetOf(objects, now.labels))

	s.objects = objects[:10] // at an older version
	c.replace(s.objects, 10, false)
	again := c.head.Load().state
	if len(again.labels) != len(now.labels) {
		t.Errorf("a state that begins anew has %d indexes, want %d", len(again.labels), len(now.labels))
	}
	wantSameIndexes(t, again, objectSetOf(s.objects, now.labels))
}
