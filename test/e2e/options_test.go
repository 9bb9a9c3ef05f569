// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	sampleinformers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers/samples/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type widgetOptions = factories.KindOptions[*v1alpha1.Widget]

// Informers of one kind under other selectors and namespaces live side by side: each sees what it
// selects, and the factory starts, awaits and stops each of them.
func TestTwoInformersOfAKind(t *testing.T) {
	t.Parallel()
	shop, lab := shared.widgets(t), shared.widgets(t)
	shop.createWidgets(t, 12)
	lab.createWidgets(t, 8)
	odd, node1 := labels.SelectorFromSet(labels.Set{"parity": "1"}), fields.OneTermEqualSelector("spec.nodeName", "node-1")

	f := informers.NewSharedInformerFactory(connect(t, shared.url), sampleinformers.WithWidgets(widgetOptions{Namespaces: []string{shop.namespace, lab.namespace}}))
	widgets := f.Samples().V1alpha1().Widgets()
	selections := []struct {
		name    string
		widgets sampleinformers.WidgetInformer
		state   func() state
	}{
		{"widgets.samples.informer-gen.dev/v1alpha1", widgets, func() state { return together(t, shop, lab) }},
		{`widgets.samples.informer-gen.dev/v1alpha1 with labels "parity=1"`, widgets.With(widgetOptions{LabelSelector: odd}), func() state {
			all := shop.state(t, metav1.ListOptions{LabelSelector: odd.String()})
			maps.Copy(all, lab.state(t, metav1.ListOptions{LabelSelector: odd.String()}))
			return all
		}},
		{fmt.Sprintf("widgets.samples.informer-gen.dev/v1alpha1 in namespace %q with fields %q", shop.namespace, "spec.nodeName=node-1"),
			widgets.With(widgetOptions{Namespaces: []string{shop.namespace}, FieldSelector: node1}),
			func() state { return shop.state(t, metav1.ListOptions{FieldSelector: node1.String()}) }},
	}
	var histories []*history[*v1alpha1.Widget]
	for _, s := range selections {
		h, _ := listen(t, s.widgets.Informer())
		histories = append(histories, h)
		if name := s.widgets.Informer().Status().Name; name != s.name {
			t.Errorf("an informer is called %s, want %s", name, s.name)
		}
	}
	runSynced(t, f)
	for n, s := range selections {
		agree(t, s.state(), histories[n], s.widgets.Informer().Store())
	}

	// into both
	shop.patch(t, "widget-000", `{"metadata":{"labels":{"parity":"1"}},"spec":{"nodeName":"node-1"}}`)
	// out of one
	lab.patch(t, "widget-001", `{"metadata":{"labels":{"parity":"0"}}}`)
	// in all
	shop.delete(t, "widget-005")
	for n, s := range selections {
		agree(t, s.state(), histories[n], s.widgets.Informer().Store())
	}
	if got := names(selections[2].widgets.Lister().ListByNode("node-1")); !slices.Equal(got, []string{"widget-000", "widget-001", "widget-009"}) {
		t.Errorf("ByNode of one selection: %q", got)
	}
	if got := len(widgets.Lister().ListByNode("node-1")); got != 5 {
		t.Errorf("ByNode of all: %d widgets, want 5", got)
	}
	generic, err := f.ForResource(listers.WidgetResource())
	if err != nil || generic.Informer().Status().Name != selections[0].name {
		t.Errorf("ForResource gives %v, %v", generic, err)
	}

	if err := f.Base().Stop(deadline(t), selections[1].widgets.Informer()); err != nil {
		t.Fatal(err)
	}
	lab.patch(t, "widget-003", `{"metadata":{"labels":{"parity":"0"}}}`)
	agree(t, selections[0].state(), histories[0], widgets.Informer().Store())
	if n := selections[1].widgets.Informer().Store().Snapshot().Len(); n != 9 {
		t.Errorf("the stopped informer has %d widgets, want the 9 that it had", n)
	}
}

// Options of a kind apply to its informers alone: a transform of the Go type, an index, an error
// handler.
func TestOptionsOfAKind(t *testing.T) {
	t.Parallel()
	ns := shared.widgets(t)
	ns.createWidgets(t, 6)
	p := newProxy(t, shared.url, func(r *request) fault {
		if strings.HasSuffix(r.path, "/widgets") {
			return fault{status: 403}
		}
		return fault{}
	})
	var mu sync.Mutex
	told := map[string]bool{}
	byTier := store.NewIndex("ByTierAndParity", func(w *v1alpha1.Widget, keys []string) []string {
		return append(keys, string(w.Spec.Tier)+w.Labels["parity"])
	})
	f := informers.NewSharedInformerFactory(connect(t, p.url), soon, informer.WithNamespace(ns.namespace),
		informer.WithErrorHandler(func(i string, err error) { t.Errorf("the factory's handler is told of %s: %v", i, err) }),
		sampleinformers.WithWidgets(widgetOptions{
			Transform: func(w *v1alpha1.Widget) (*v1alpha1.Widget, error) {
				w.Spec.Parts, w.Spec.Tier = nil, v1alpha1.Silver
				return w, nil
			},
			Indexes: []store.AnyIndex[*v1alpha1.Widget]{byTier},
			ErrorHandler: func(i string, _ error) {
				mu.Lock()
				defer mu.Unlock()
				told[i] = true
			},
		}))
	widgets, sites := f.Samples().V1alpha1().Widgets(), f.Samples().V1alpha1().Sites()
	sites.Informer()
	h, _ := listen(t, widgets.Informer())
	run(t, f)
	awaitStatus(t, widgets.Informer(), "is refused", func(s informer.Status) bool { return s.Reflector.LastError != nil })
	p.setFaults(nil)
	if err := f.WaitForCacheSync(deadline(t)); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	if want := map[string]bool{"widgets.samples.informer-gen.dev/v1alpha1": true}; !maps.Equal(told, want) {
		t.Errorf("the kind's handler is told of %v, want %v", told, want)
	}
	mu.Unlock()
	agree(t, ns.state(t), h, widgets.Informer().Store())
	for w := range widgets.Lister().All() {
		if w.Spec.Tier != v1alpha1.Silver || w.Spec.Parts != nil {
			t.Errorf("%s is not transformed: %+v", w.Name, w.Spec)
		}
	}
	if got := names(byTier.List(widgets.Lister().Snapshot(), "silver1")); !slices.Equal(got, []string{"widget-001", "widget-003", "widget-005"}) {
		t.Errorf("the index that was added finds %q", got)
	}
	if got := len(widgets.Lister().ListByImage("image:1")); got != 0 {
		t.Errorf("%d widgets with a part that the transform has taken off", got)
	}
}

// Every sort of generated index gives what the server's objects say, and so do the listers of two
// namespaces.
func TestGeneratedIndexes(t *testing.T) {
	t.Parallel()
	shop, lab := shared.widgets(t), shared.widgets(t)
	tiers, phases := []v1alpha1.Tier{v1alpha1.Bronze, v1alpha1.Silver, v1alpha1.Gold}, []v1alpha1.Phase{v1alpha1.Running, v1alpha1.Broken, ""}
	for _, ns := range []in{shop, lab} {
		for n := range 18 {
			w := widget(n)
			w.Spec.Tier = tiers[n%3]
			if n%2 == 0 {
				w.Labels["app.kubernetes.io/managed-by"] = fmt.Sprint("team-", n%4)
			}
			w.OwnerReferences = append(w.OwnerReferences, metav1.OwnerReference{
				APIVersion: []string{"samples.informer-gen.dev/v1alpha1", "samples.informer-gen.dev/v2", "other.informer-gen.dev/v1"}[n%3],
				Kind:       "Site", Name: fmt.Sprint("site-", n%2), UID: types.UID(fmt.Sprint("site-", n)),
			})
			ns.create(t, w)
			ns.setPhase(t, w.Name, phases[n/3%3])
		}
	}
	f := informers.NewSharedInformerFactory(connect(t, shared.url), informer.WithNamespace(shop.namespace, lab.namespace))
	widgets := f.Samples().V1alpha1().Widgets()
	h, _ := listen(t, widgets.Informer())
	runSynced(t, f)
	shop.setPhase(t, "widget-000", v1alpha1.Broken) // enters BrokenByNode
	lab.setPhase(t, "widget-003", v1alpha1.Running) // leaves it
	shop.patch(t, "widget-006", `{"spec":{"tier":"gold"},"metadata":{"labels":{"app.kubernetes.io/managed-by":null},"ownerReferences":null}}`)
	lab.delete(t, "widget-007")
	agree(t, together(t, shop, lab), h, widgets.Informer().Store())

	lister := widgets.Lister()
	all := append(shop.asWidgets(t), lab.asWidgets(t)...)
	// check compares both methods of an index, of all namespaces or of one, with the widgets for
	// which has is true.
	check := func(index string, namespace string, has func(*v1alpha1.Widget) bool, listed []*v1alpha1.Widget, iterated func(func(*v1alpha1.Widget) bool)) {
		t.Helper()
		want := names(slices.DeleteFunc(slices.Clone(all), func(w *v1alpha1.Widget) bool {
			return !has(w) || namespace != "" && w.Namespace != namespace
		}))
		for _, got := range [][]*v1alpha1.Widget{listed, slices.Collect(iterated)} {
			if diff := cmp.Diff(want, names(got)); diff != "" {
				t.Errorf("%s in %q (-server +index):\n%s", index, namespace, diff)
			}
		}
	}
	some := 0 // of the keys have widgets
	for _, namespace := range []string{"", shop.namespace, lab.namespace, "nowhere"} {
		var in listers.WidgetLookups = lister
		if namespace != "" {
			in = lister.Widgets(namespace)
		}
		for n := range 5 {
			node := fmt.Sprint("node-", n)
			check("ByNode of "+node, namespace, func(w *v1alpha1.Widget) bool { return w.Spec.NodeName == node }, in.ListByNode(node), in.ByNode(node))
			check("BrokenByNode of "+node, namespace, func(w *v1alpha1.Widget) bool { return w.Spec.NodeName == node && w.Status.Phase == v1alpha1.Broken },
				in.ListBrokenByNode(node), in.BrokenByNode(node))
			team := fmt.Sprint("team-", n)
			check("ByManager of "+team, namespace, func(w *v1alpha1.Widget) bool { return w.Labels["app.kubernetes.io/managed-by"] == team }, in.ListByManager(team), in.ByManager(team))
			site := fmt.Sprint("site-", n)
			check("BySite of "+site, namespace, func(w *v1alpha1.Widget) bool {
				return slices.ContainsFunc(w.OwnerReferences, func(o metav1.OwnerReference) bool {
					return o.Kind == "Site" && o.Name == site && strings.HasPrefix(o.APIVersion, "samples.informer-gen.dev/")
				})
			}, in.ListBySite(site), in.BySite(site))
			for _, tier := range tiers {
				key := listers.WidgetByNodeAndTierKey{NodeName: node, Tier: tier}
				check(fmt.Sprintf("ByNodeAndTier of %+v", key), namespace, func(w *v1alpha1.Widget) bool { return w.Spec.NodeName == node && w.Spec.Tier == tier },
					in.ListByNodeAndTier(key), in.ByNodeAndTier(key))
				some += len(in.ListByNodeAndTier(key))
			}
		}
	}
	if some != 2*(18+17) {
		t.Errorf("the composite index has %d widgets in all namespaces and in each, want %d", some, 2*(18+17))
	}
	for _, namespace := range []string{shop.namespace, lab.namespace, "nowhere"} {
		for _, tier := range tiers {
			in := lister.Widgets(namespace)
			check("ByTier of "+string(tier), namespace, func(w *v1alpha1.Widget) bool { return w.Spec.Tier == tier }, in.ListByTier(tier), in.ByTier(tier))
		}
	}
}

// setPhase writes the phase of a Widget, which is in its status.
func (i in) setPhase(t *testing.T, name string, phase v1alpha1.Phase) {
	t.Helper()
	if phase == "" {
		return
	}
	patch := fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase)
	if _, err := i.client().Patch(deadline(t), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// asWidgets is what the server has in a namespace.
func (i in) asWidgets(t *testing.T) (widgets []*v1alpha1.Widget) {
	t.Helper()
	list, err := i.client().List(deadline(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range list.Items {
		w := &v1alpha1.Widget{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, w); err != nil {
			t.Fatal(err)
		}
		widgets = append(widgets, w)
	}
	return widgets
}
