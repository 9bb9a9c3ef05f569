// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// names returns the sorted names of objects.
func names[T object.Object](objs []T) []string {
	s := []string{}
	for _, obj := range objs {
		s = append(s, obj.GetName())
	}
	slices.Sort(s)
	return s
}

// names returns the sorted names of the server's objects.
func (i collection) names(t *testing.T, opts metav1.ListOptions) []string {
	t.Helper()
	s := []string{}
	for key := range i.state(t, opts) {
		s = append(s, key.Name)
	}
	slices.Sort(s)
	return s
}

// TestIndexesAndListersAgreeWithTheServer compares indexes and listers with lists of the server.
func TestIndexesAndListersAgreeWithTheServer(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ships := []string{"Argo", "Beagle", "Calypso"}
	fill := func(c *Crate, n int) {
		c.Labels = map[string]string{"parity": fmt.Sprint(n % 2), "third": fmt.Sprint(n % 3)}
		c.Spec.Ship = ships[n%3]
	}
	ns.createMany(t, 60, fill)
	f, i := crateInformer(t, shared.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)
	// Some move between keys, some are deleted, some are created.
	for n := range 20 {
		name := fmt.Sprintf("crate-%03d", n)
		switch n % 4 {
		case 0:
			ns.patch(t, name, `{"spec":{"ship":"Argo"},"metadata":{"labels":{"parity":null}}}`)
		case 1:
			ns.delete(t, name)
		case 2:
			ns.patch(t, name, `{"spec":{"ship":null}}`)
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
				t.Errorf("List(%q) %s: %v (-server +lister):\n%s", text, where, err, diff)
			}
		}
	}
	snapshot := i.Store().Snapshot()
	for _, ship := range append(ships, "") {
		want := ns.names(t, metav1.ListOptions{FieldSelector: "spec.ship=" + ship})
		if diff := cmp.Diff(want, names(byShip.List(snapshot, ship))); diff != "" {
			t.Errorf("ByShip.List(%q) (-server +index):\n%s", ship, diff)
		}
	}

	if c, err := all.Namespace(ns.namespace).Get("crate-007"); err != nil || c.Spec.Ship != "Beagle" {
		t.Errorf(`Get("crate-007") = %+v, %v; want the ship Beagle`, c, err)
	}
	_, err := all.Namespace(ns.namespace).Get("crate-001")
	_, wantErr := ns.client().Get(deadline(t), "crate-001", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) || err.Error() != wantErr.Error() {
		t.Errorf(`Get("crate-001") of a deleted crate: error %q, the server's is %q`, err, wantErr)
	}
	if _, err := all.Namespace("elsewhere").Get("crate-007"); !apierrors.IsNotFound(err) {
		t.Errorf(`Get("crate-007") in another namespace: error %v, want NotFound`, err)
	}
}

func asSlice(v any) []any {
	s, _ := v.([]any)
	return s
}
