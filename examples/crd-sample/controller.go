// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// finalizer keeps a site until its widgets are gone.
const finalizer = "samples.informer-gen.dev/widgets"

// siteController manages sites. It gives each site a kiosk, which is a widget owned by the site,
// and counts the site's widgets in its status. When a site is deleted, it deletes the widgets
// first.
type siteController struct {
	kind    schema.GroupVersionKind
	sites   *writer.Writer[*v1alpha1.Site]
	widgets *writer.Writer[*v1alpha1.Widget]
	owned   listers.WidgetLister
}

func newSiteController(factory informers.SharedInformerFactory, client *source.Client) (*controller.Controller, error) {
	sites, widgets := factory.Samples().V1alpha1().Sites(), factory.Samples().V1alpha1().Widgets()
	options := writer.Options{FieldManager: "site-controller"}
	writeSites, err := controller.Writer(client, sites, options)
	if err != nil {
		return nil, err
	}
	writeWidgets, err := controller.Writer(client, widgets, options)
	if err != nil {
		return nil, err
	}
	c := &siteController{sites.GroupVersionKind(), writeSites, writeWidgets, widgets.Lister()}
	return sites.Reconcile("sites", c.reconcile,
		controller.Owns(widgets.Informer()),
		controller.Options{Concurrency: 2},
	)
}

// reconcile is called with a copy of each site that has changed, or whose widgets have. The cache
// has its writes before the next call for the site.
func (c *siteController) reconcile(ctx context.Context, site *v1alpha1.Site) (done controller.Result, err error) {
	owned := c.owned.ListBySite(site.Name)
	if site.DeletionTimestamp != nil {
		return c.end(ctx, site, owned)
	}
	site, _, err = c.sites.AddFinalizer(ctx, site, finalizer)
	if err != nil {
		return done, err
	}
	kiosk := c.kiosk(site)
	if _, err := c.owned.Widgets(kiosk.Namespace).Get(kiosk.Name); apierrors.IsNotFound(err) {
		if _, _, err := c.widgets.Create(ctx, kiosk); err != nil {
			return done, err
		}
	}
	_, _, err = c.sites.MutateStatus(ctx, site, func(s *v1alpha1.Site) error {
		s.Status.Widgets = int32(len(owned))
		return nil
	})
	return done, err
}

// end deletes the widgets of a site. Their events cause more calls; once no widget is left, it
// removes the finalizer.
func (c *siteController) end(ctx context.Context, site *v1alpha1.Site, owned []*v1alpha1.Widget) (done controller.Result, err error) {
	for _, widget := range owned {
		if _, err := c.widgets.Delete(ctx, widget, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return done, err
		}
	}
	if len(owned) > 0 {
		return done, nil
	}
	_, _, err = c.sites.RemoveFinalizer(ctx, site, finalizer)
	return done, err
}

func (c *siteController) kiosk(site *v1alpha1.Site) *v1alpha1.Widget {
	return &v1alpha1.Widget{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "kiosk-" + site.Name, Labels: programLabels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(site, c.kind)},
		},
		Spec: v1alpha1.WidgetSpec{Tier: v1alpha1.Gold},
	}
}
