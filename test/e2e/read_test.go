// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// names of objects, sorted.
func names[T object.Object](objs []T) []string {
	s := []string{}
	for _, obj := range objs {
		s = append(s, obj.GetName())
	}
	slices.Sort(s)
	return s
}

// names that the server lists.
func (i in) names(t *testing.T, opts metav1.ListOptions) []string {
	t.Helper()
	s := []string{}
	for key := range i.state(t, opts) {
		s = append(s, key.Name)
	}
	slices.Sort(s)
	return s
}

// Indexes and listers give the same answers as the server.
func TestIndexesAndListersAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ships := []string{"Argo", "Beagle", "Calypso"}
	ports := []string{"Oslo", "Kiel", "Riga", "Turku"}
	fill := func(c *Crate, n int) {
		c.Labels = map[string]string{"parity": fmt.Sprint(n % 2), "third": fmt.Sprint(n % 3)}
		c.Spec = CrateSpec{Ship: ships[n%3], Ports: ports[:n%5], Weight: int64(n % 4)}
	}
	ns.createMany(t, 60, fill)
	f, i := crateInformer(t, shared.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)
	// Some move between keys, some go, some come.
	for n := range 20 {
		name := fmt.Sprintf("crate-%03d", n)
		switch n % 4 {
		case 0:
			ns.patch(t, name, `{"spec":{"ship":"Argo","ports":["Riga","Riga"]},"metadata":{"labels":{"parity":null}}}`)
		case 1:
			ns.delete(t, name)
		case 2:
			ns.patch(t, name, `{"spec":{"ports":null,"weight":null}}`)
		}
	}
	agree(t, ns.state(t), h, i.Store())

	all := lister.New(i.Store(), crates.GroupResource())
	for _, text := range []string{"", "parity=1", "parity,third!=2", "!parity", "third in (0,1),parity=0", "parity=7"} {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := ns.names(t, metav1.ListOptions{LabelSelector: text})
		for where, list := range map[string]func(labels.Selector) ([]*Crate, error){
			"everywhere": all.List, "in the namespace": all.Namespace(ns.namespace).List,
		} {
			got, err := list(selector)
			if diff := cmp.Diff(want, names(got)); diff != "" || err != nil {
				t.Errorf("List of %q %s (-server +lister): %v\n%s", text, where, err, diff)
			}
		}
	}
	snapshot := i.Store().Snapshot()
	for _, ship := range append(ships, "") {
		want := ns.names(t, metav1.ListOptions{FieldSelector: "spec.ship=" + ship})
		if diff := cmp.Diff(want, names(byShip.List(snapshot, ship))); diff != "" {
			t.Errorf("ByShip of %q (-server +index):\n%s", ship, diff)
		}
	}

	// The server can't select by these, so its objects are filtered one by one.
	wantByPort, wantByWeight := map[string][]string{}, map[int64][]string{}
	list, err := ns.client().List(deadline(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list.Items {
		spec := u.Object["spec"].(map[string]any)
		seen := map[string]bool{}
		for _, port := range asSlice(spec["ports"]) {
			if p := port.(string); !seen[p] {
				seen[p] = true
				wantByPort[p] = append(wantByPort[p], u.GetName())
			}
		}
		weight, _ := spec["weight"].(int64)
		wantByWeight[weight] = append(wantByWeight[weight], u.GetName())
	}
	for port, want := range wantByPort {
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), names(byPort.List(snapshot, port))); diff != "" {
			t.Errorf("ByPort of %q (-server +index):\n%s", port, diff)
		}
	}
	for weight, want := range wantByWeight {
		if diff := cmp.Diff(slices.Sorted(slices.Values(want)), names(byWeight.List(snapshot, weight))); diff != "" {
			t.Errorf("ByWeight of %d (-server +index):\n%s", weight, diff)
		}
		if n := byWeight.Len(snapshot, weight); n != len(want) {
			t.Errorf("ByWeight has %d of %d, want %d", n, weight, len(want))
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(wantByPort)), slices.Sorted(byPort.Keys(snapshot))); diff != "" {
		t.Errorf("keys of ByPort (-server +index):\n%s", diff)
	}

	if c, err := all.Namespace(ns.namespace).Get("crate-007"); err != nil || c.Spec.Ship != "Beagle" {
		t.Errorf("Get gives %+v, %v", c, err)
	}
	_, err = all.Namespace(ns.namespace).Get("crate-001")
	_, wantErr := ns.client().Get(deadline(t), "crate-001", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != wantErr.Error() {
		t.Errorf("Get of a deleted crate gives %q, the server %q", err, wantErr)
	}
	if _, err := all.Namespace("elsewhere").Get("crate-007"); !apierrors.IsNotFound(err) {
		t.Errorf("Get in another namespace gives %v", err)
	}
}

func asSlice(v any) []any {
	s, _ := v.([]any)
	return s
}

// An index that comes late answers at once, and is kept up to date.
func TestLateIndex(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 10, func(c *Crate, n int) { c.Spec.Weight = int64(n) })
	f := factories.New(connect(t, shared.url), informer.WithNamespace(ns.namespace))
	i := factories.For[*Crate](f, crates)
	h, _ := listen(t, i)
	runSynced(t, f)
	if got := names(byWeight.List(i.Store().Snapshot(), 3)); !slices.Equal(got, []string{"crate-003"}) {
		t.Errorf("without the index: %q", got)
	}
	if err := i.AddIndexers(byWeight); err != nil {
		t.Fatal(err)
	}
	if got := names(byWeight.List(i.Store().Snapshot(), 3)); !slices.Equal(got, []string{"crate-003"}) {
		t.Errorf("with the index: %q", got)
	}
	ns.load(t, "crate-004", 3)
	ns.delete(t, "crate-003")
	h.awaitLine("delete crate-003")
	if got := names(byWeight.List(i.Store().Snapshot(), 3)); !slices.Equal(got, []string{"crate-004"}) {
		t.Errorf("after changes: %q", got)
	}
}

// The generic view is the same informer.
func TestGenericViewIsTheSameInformer(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.createMany(t, 5)
	f, i := crateInformer(t, shared.url, ns)
	g := factories.Generic(i, crates.GroupResource())
	typed, _ := listen(t, i)
	untyped, _ := listen(t, g.Informer())
	runSynced(t, f)
	ns.delete(t, "crate-002")
	want := ns.state(t)
	agree(t, want, typed, i.Store())
	agree(t, want, untyped, g.Informer().Store())
	obj, err := g.Lister().Namespace(ns.namespace).Get("crate-003")
	if c, ok := obj.(*Crate); err != nil || !ok || c.Name != "crate-003" {
		t.Errorf("Get gives a %T, %v", obj, err)
	}
	if again := factories.For[*Crate](f, crates); again != i {
		t.Error("For gives another informer the second time")
	}
}
