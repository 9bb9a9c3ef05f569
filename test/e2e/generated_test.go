// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// widgets returns the Widgets of a new namespace.
func (c *cluster) widgets(t *testing.T) collection {
	return collection{c, listers.WidgetResource(), dnsName(t)}
}

// widget returns a Widget with its node, parts and owners made from n.
func widget(n int) *v1alpha1.Widget {
	w := &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{
		Name:   fmt.Sprintf("widget-%03d", n),
		Labels: map[string]string{"parity": fmt.Sprint(n % 2)},
	}}
	w.Spec = v1alpha1.WidgetSpec{NodeName: fmt.Sprintf("node-%d", n%4), Tier: v1alpha1.Gold}
	for k := range n % 3 {
		w.Spec.Parts = append(w.Spec.Parts, v1alpha1.Part{Name: fmt.Sprint("part-", k), Image: fmt.Sprint("image:", (n+k)%5)})
	}
	if n%5 == 0 {
		w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Shop", Name: "owner", UID: types.UID(fmt.Sprint("uid-", n%10))}}
	}
	return w
}

func (i collection) createWidgets(t *testing.T, n int) {
	t.Helper()
	for k := range n {
		i.create(t, widget(k))
	}
}

func TestGeneratedFactory(t *testing.T) {
	t.Parallel()
	ns := shared.widgets(t)
	ns.createWidgets(t, 30)
	sites := collection{shared, listers.SiteResource(), ""}
	station := dnsName(t)
	sites.create(t, &v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: station}, Spec: v1alpha1.SiteSpec{City: "Ulm", Nodes: []string{"node-1"}}})

	f := informers.NewSharedInformerFactory(connect(t, shared.url), informer.WithNamespace(ns.namespace))
	widgetInformer := f.Samples().V1alpha1().Widgets()
	siteInformer := f.Samples().V1alpha1().Sites()
	h, reg := listen(t, widgetInformer.Informer())
	siteHistory, _ := listen(t, siteInformer.Informer())
	if f.Samples().V1alpha1().Widgets().Informer() != widgetInformer.Informer() {
		t.Error("the factory has two informers of Widgets")
	}
	runSynced(t, f)
	await(t, "sync of the handler", reg.Synced())
	agree(t, ns.state(t), h, widgetInformer.Informer().Store())
	siteHistory.awaitLine("add " + station) // other tests have sites, too

	ns.patch(t, "widget-001", `{"spec":{"nodeName":"node-9","parts":[{"name":"display","image":"image:9"},{"name":"motor","image":"image:9"}]}}`)
	ns.patch(t, "widget-002", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Shop","name":"b","uid":"uid-0"},{"apiVersion":"v1","kind":"Shop","name":"c","uid":"uid-7"}]}}`)
	ns.patch(t, "widget-003", `{"spec":{"nodeName":null,"parts":null}}`)
	ns.delete(t, "widget-004")
	ns.delete(t, "widget-005")
	ns.create(t, widget(5))
	sites.patch(t, station, `{"spec":{"city":"Aalen"}}`)
	siteHistory.awaitLine("update " + station)
	agree(t, ns.state(t), h, widgetInformer.Informer().Store())
	if callbacks := h.callbacks()[30:]; !slices.Equal(callbacks, []string{
		"update widget-001", "update widget-002", "update widget-003", "delete widget-004", "delete widget-005", "add widget-005",
	}) {
		t.Errorf("callbacks after the sync: %q", callbacks)
	}

	lister := widgetInformer.Lister()
	checkWidgetIndexes(t, ns, lister)
	if w, err := lister.Widgets(ns.namespace).Get("widget-001"); err != nil || w.Spec.NodeName != "node-9" || w.Spec.Tier != v1alpha1.Gold {
		t.Errorf("Get of a Widget = %+v, %v", w, err)
	}
	odd := labels.SelectorFromSet(labels.Set{"parity": "1"})
	list, err := lister.List(odd)
	if diff := cmp.Diff(ns.names(t, metav1.ListOptions{LabelSelector: odd.String()}), names(list)); diff != "" || err != nil {
		t.Errorf("Widgets: List: %v (-server +lister):\n%s", err, diff)
	}
	if site, err := siteInformer.Lister().Get(station); err != nil || site.Spec.City != "Aalen" {
		t.Errorf("Get of a Site = %+v, %v", site, err)
	}
	if _, err := siteInformer.Lister().Get("depot"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "sites.samples.informer-gen.dev") {
		t.Errorf("Get of a missing Site: error %v, want NotFound", err)
	}

	generic, err := f.ForResource(listers.WidgetResource())
	if err != nil {
		t.Fatal(err)
	}
	obj, err := generic.Lister().Namespace(ns.namespace).Get("widget-001")
	if w, ok := obj.(*v1alpha1.Widget); err != nil || !ok || w.Spec.NodeName != "node-9" {
		t.Errorf("Get by ForResource's lister = %T, %v", obj, err)
	}
	if !generic.Informer().HasSynced() {
		t.Error("ForResource gives an informer that has not synced")
	}
	if _, err := f.ForResource(crates); err == nil {
		t.Error("ForResource of a foreign resource gives no error")
	}
}

// checkWidgetIndexes compares every answer of the indexes with the server's objects.
func checkWidgetIndexes(t *testing.T, ns collection, lister listers.WidgetLister) {
	t.Helper()
	list, err := ns.client().List(deadline(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	nodes, images, owners := map[string][]string{"node-404": {}}, map[string][]string{"image:404": {}}, map[types.UID][]string{"": {}}
	for _, u := range list.Items {
		spec := u.Object["spec"].(map[string]any)
		node, _ := spec["nodeName"].(string)
		nodes[node] = append(nodes[node], u.GetName())
		for _, part := range asSlice(spec["parts"]) {
			image := part.(map[string]any)["image"].(string)
			if !slices.Contains(images[image], u.GetName()) {
				images[image] = append(images[image], u.GetName())
			}
		}
		for _, owner := range u.GetOwnerReferences() {
			owners[owner.UID] = append(owners[owner.UID], u.GetName())
		}
	}
	check := func(index string, key any, want []string, listed, iterated []*v1alpha1.Widget) {
		t.Helper()
		slices.Sort(want)
		for _, got := range [][]*v1alpha1.Widget{listed, iterated} {
			if diff := cmp.Diff(want, names(got)); diff != "" {
				t.Errorf("%s.List(%q) (-server +index):\n%s", index, key, diff)
			}
		}
	}
	for node, want := range nodes {
		check("ByNode", node, want, lister.ListByNode(node), slices.Collect(lister.ByNode(node)))
	}
	for image, want := range images {
		check("ByImage", image, want, lister.ListByImage(image), slices.Collect(lister.ByImage(image)))
	}
	for owner, want := range owners {
		check("ByOwner", owner, want, lister.ListByOwner(owner), slices.Collect(lister.ByOwner(owner)))
	}
}
