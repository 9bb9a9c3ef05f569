// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/testkit/storetest"
)

// TestGetAllocatesNothing reads by the lister of a namespace and by the lister of a cluster-scoped
// kind.
func TestGetAllocatesNothing(t *testing.T) {
	shop := listers.NewWidgetLister(storetest.New(t, &v1alpha1.Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})).Widgets("shop")
	sites := listers.NewSiteLister(storetest.New(t, &v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "berlin"}}))
	if allocs := testing.AllocsPerRun(100, func() {
		if widget, err := shop.Get("blue"); err != nil || widget.Name != "blue" {
			t.Errorf("Get of a widget = %v, %v", widget, err)
		}
		if site, err := sites.Get("berlin"); err != nil || site.Name != "berlin" {
			t.Errorf("Get of a site = %v, %v", site, err)
		}
	}); allocs > 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}
