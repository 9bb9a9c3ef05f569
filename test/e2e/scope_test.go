// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

func labelled(key, value string) func(*Crate) {
	return func(c *Crate) { c.Labels = map[string]string{key: value} }
}

// TestLabelSelector: an object that starts to match is added, and is deleted when it ceases to.
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
		ns.setWeight(t, "out", 3)
		h.wantLines(2, "update out")
		ns.patch(t, "in", `{"metadata":{"labels":{"tier":"tin"}}}`)
		h.wantLines(3, "delete in")
		ns.setWeight(t, "in", 4)
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
