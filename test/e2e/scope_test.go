// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

func labelled(key, value string) func(*Crate) {
	return func(c *Crate) { c.Labels = map[string]string{key: value} }
}

func TestNamespaceRestriction(t *testing.T) {
	t.Parallel()
	here := shared.crates(t)
	there := here
	there.namespace += "-there"
	here.createMany(t, 3)
	there.createMany(t, 3)
	f, i := crateInformer(t, shared.url, here)
	h, _ := listen(t, i)
	runSynced(t, f)
	there.create(t, crate("other"))
	there.load(t, "crate-000", 1)
	there.delete(t, "crate-001")
	here.create(t, crate("last"))
	h.awaitLine("add last")
	agree(t, here.state(t), h, i.Store())
	if n := len(h.told()); n != 4 {
		t.Errorf("callbacks %q, want 4", h.told())
	}
	if n := i.Store().Snapshot().NamespaceLen(there.namespace); n != 0 {
		t.Errorf("%d objects of the other namespace", n)
	}
}

// An object that starts to match is an add, one that ceases to is a delete.
func TestLabelSelector(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.create(t, crate("in", labelled("tier", "gold")))
	ns.create(t, crate("out", labelled("tier", "tin")))
	selector := labels.SelectorFromSet(labels.Set{"tier": "gold"})
	for _, watchList := range []bool{true, false} {
		f, i := crateInformer(t, shared.url, ns, informer.WithLabelSelector(selector), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}))
		h, _ := listen(t, i)
		runSynced(t, f)
		h.wantLines(0, "add in")
		ns.patch(t, "out", `{"metadata":{"labels":{"tier":"gold"}}}`)
		h.wantLines(1, "add out")
		ns.load(t, "out", 3)
		h.wantLines(2, "update out")
		ns.patch(t, "in", `{"metadata":{"labels":{"tier":"tin"}}}`)
		h.wantLines(3, "delete in")
		ns.load(t, "in", 4)
		ns.delete(t, "out")
		h.wantLines(4, "delete out")
		ns.patch(t, "in", `{"metadata":{"labels":{"tier":"gold"}}}`)
		h.wantLines(5, "add in")
		agree(t, ns.state(t, metav1.ListOptions{LabelSelector: selector.String()}), h, i.Store())
		ns.create(t, crate("out", labelled("tier", "tin")))
		if err := f.Shutdown(deadline(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFieldSelector(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	ns.create(t, crate("in", func(c *Crate) { c.Spec.Ship = "Argo" }))
	ns.create(t, crate("out", func(c *Crate) { c.Spec.Ship = "Beagle" }))
	selector := fields.OneTermEqualSelector("spec.ship", "Argo")
	f, i := crateInformer(t, shared.url, ns, informer.WithFieldSelector(selector))
	h, _ := listen(t, i)
	runSynced(t, f)
	ns.patch(t, "out", `{"spec":{"ship":"Argo"}}`)
	h.wantLines(0, "add in", "add out")
	ns.patch(t, "in", `{"spec":{"ship":"Beagle"}}`)
	h.wantLines(2, "delete in")
	agree(t, ns.state(t, metav1.ListOptions{FieldSelector: selector.String()}), h, i.Store())
}

// Two informers of one resource, with selectors that share some objects: each has its own.
func TestTwoSelectors(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	selectors := []string{"tier in (gold,silver)", "tier in (silver,tin)"}
	histories := make([]*history[*Crate], 2)
	informers := make([]*informer.SharedIndexInformer[*Crate], 2)
	for n, text := range selectors {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var f *factories.Factory
		f, informers[n] = crateInformer(t, shared.url, ns, informer.WithLabelSelector(selector))
		histories[n], _ = listen(t, informers[n])
		runSynced(t, f)
	}
	for _, tier := range []string{"gold", "silver", "tin", "lead"} {
		ns.create(t, crate(tier, labelled("tier", tier)))
	}
	ns.create(t, crate("wanderer", labelled("tier", "gold")))
	for _, tier := range []string{"silver", "tin", "lead", "silver"} {
		ns.patch(t, "wanderer", `{"metadata":{"labels":{"tier":"`+tier+`"}}}`)
	}
	histories[0].wantLines(0, "add gold", "add silver", "add wanderer", "update wanderer", "delete wanderer", "add wanderer")
	histories[1].wantLines(0, "add silver", "add tin", "add wanderer", "update wanderer", "delete wanderer", "add wanderer")
	for n, text := range selectors {
		agree(t, ns.state(t, metav1.ListOptions{LabelSelector: text}), histories[n], informers[n].Store())
	}
}

// A cluster-scoped kind ignores the factory's namespace.
func TestClusterScope(t *testing.T) {
	t.Parallel()
	all := in{shared, docks, ""}
	f := factories.New(connect(t, shared.url), informer.WithNamespace("shop"))
	i := factories.For[*Dock](f, docks, factories.WithClusterScope())
	h, _ := listen(t, i)
	all.create(t, (*Dock)(crate("north")))
	runSynced(t, f)
	all.create(t, (*Dock)(crate("south")))
	h.wantLines(0, "add north", "add south")
	if d, ok := i.Store().Snapshot().Get(object.Key{Name: "south"}); !ok || d.Name != "south" {
		t.Errorf("the store has %v, %v", d, ok)
	}
	agree(t, all.state(t), h, i.Store())
}
