// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/controllertest"
	"github.com/informer-gen/informer-gen/testkit/rbactest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// docs/testing.md shows the following functions.

func TestSiteController(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		sites := sourcetest.Serve[*v1alpha1.Site](env.Server, listers.SiteResource(), "Site")
		widgets := sourcetest.Serve[*v1alpha1.Widget](env.Server, listers.WidgetResource(), "Widget")
		sites.Create(&v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "airport"}})
		c, err := newSiteController(informers.NewSharedInformerFactory(env.Client), env.Client)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()
		airport, _ := sites.Get("", "airport")
		if airport.Status.Widgets != 1 || fmt.Sprint(airport.Finalizers) != "["+finalizer+"]" {
			t.Errorf("the site has %d widgets and the finalizers %v", airport.Status.Widgets, airport.Finalizers)
		}

		widgets.Delete("shop", "kiosk-airport") // by mistake
		env.Settle()
		if kiosk, ok := widgets.Get("shop", "kiosk-airport"); !ok || !metav1.IsControlledBy(kiosk, airport) {
			t.Errorf("the kiosk is %v; want a new one", kiosk)
		}

		cluster, err := writer.New[*v1alpha1.Site](env.Client, listers.SiteResource(), writer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Delete(t.Context(), airport, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		env.Settle()
		if left := len(sites.All()) + len(widgets.All()); left > 0 {
			t.Errorf("%d objects are left of the site", left)
		}
	})
}

func TestSiteControllerRetries(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		sites := sourcetest.Serve[*v1alpha1.Site](env.Server, listers.SiteResource(), "Site")
		sourcetest.Serve[*v1alpha1.Widget](env.Server, listers.WidgetResource(), "Widget")
		sites.Create(&v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "airport"}})
		env.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Times: 5, Do: sourcetest.Refuse(503)})
		c, err := newSiteController(informers.NewSharedInformerFactory(env.Client), env.Client)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()
		if airport, _ := sites.Get("", "airport"); airport.Status.Widgets != 1 {
			t.Errorf("the site has %d widgets, want 1", airport.Status.Widgets)
		}
		if failed := c.Status().Totals.Failed; failed != 5 {
			t.Errorf("%d reconciles have failed, want 5", failed)
		}
	})
}

func TestSiteControllerRole(t *testing.T) {
	controllertest.Run(t, func(t *testing.T, env *controllertest.Env) {
		sites := sourcetest.Serve[*v1alpha1.Site](env.Server, listers.SiteResource(), "Site")
		widgets := sourcetest.Serve[*v1alpha1.Widget](env.Server, listers.WidgetResource(), "Widget")
		airport := sites.Create(&v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "airport"}})
		conflict := sourcetest.Refuse(409) // makes the controller read the site again
		env.Server.Inject(sourcetest.Fault{On: sourcetest.Write, Times: 1, Do: conflict})
		var requests rbactest.Recorder
		client, err := source.NewClient(requests.Config(env.Server.Config())) // the controller's
		if err != nil {
			t.Fatal(err)
		}
		c, err := newSiteController(informers.NewSharedInformerFactory(client), client)
		if err != nil {
			t.Fatal(err)
		}
		env.Start(c)
		env.Settle()

		// the test's own requests
		cluster, err := writer.New[*v1alpha1.Site](env.Client, listers.SiteResource(), writer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Delete(t.Context(), airport, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		env.Settle()
		if left := len(sites.All()) + len(widgets.All()); left > 0 {
			t.Errorf("%d objects are left of the site", left)
		}
		requests.Check(t, "config/rbac/role.yaml")
	})
}
