// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
)

const (
	namespace = "shop"
	nodes     = 24
	writers   = 8
)

var cities = []struct{ name, city string }{
	{"central-station", "Lund"},
	{"airport", "Malmö"},
	{"library", "Ystad"},
	{"harbour", "Simrishamn"},
}

var programLabels = map[string]string{"app.kubernetes.io/managed-by": "crd-sample"}

// shop writes to the API server, as users and other controllers do in a cluster.
type shop struct {
	client *rest.RESTClient
	label  labels.Selector         // selects all objects made by this program
	owners []metav1.OwnerReference // one for each of cities
	count  int                     // widgets made so far
	first  int                     // earlier ones are deleted
}

func newShop(config *rest.Config) (*shop, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &shop{client: client, label: labels.SelectorFromSet(programLabels)}, nil
}

// open makes the sites and the first n widgets, after removing leftovers of a run that didn't
// close.
func (s *shop) open(ctx context.Context, n int) error {
	if err := s.clear(ctx); err != nil {
		return err
	}
	for i, c := range cities {
		site := &v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: c.name, Labels: programLabels}, Spec: v1alpha1.SiteSpec{City: c.city}}
		for node := i; node < nodes; node += len(cities) {
			site.Spec.Nodes = append(site.Spec.Nodes, nodeName(node))
		}
		made := &v1alpha1.Site{}
		if err := s.client.Post().Resource("sites").Body(site).Do(ctx).Into(made); err != nil {
			return fmt.Errorf("create site %s: %w", c.name, err)
		}
		s.owners = append(s.owners, metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "Site", Name: made.Name, UID: made.UID,
		})
	}
	return s.add(ctx, n)
}

func (s *shop) add(ctx context.Context, n int) error {
	first := s.count
	s.count += n
	return s.each(ctx, first, n, func(ctx context.Context, i int) error {
		tiers := []v1alpha1.Tier{v1alpha1.Bronze, v1alpha1.Silver, v1alpha1.Gold}
		widget := &v1alpha1.Widget{
			ObjectMeta: metav1.ObjectMeta{
				Name: widgetName(i), Namespace: namespace, Labels: programLabels,
				OwnerReferences: []metav1.OwnerReference{s.owners[i%len(s.owners)]},
			},
			Spec: v1alpha1.WidgetSpec{
				NodeName: nodeName(i % nodes),
				Tier:     tiers[i%len(tiers)],
				Parts: []v1alpha1.Part{
					{Name: "display", Image: fmt.Sprintf("display:1.%d", i%5)},
					{Name: "reader", Image: fmt.Sprintf("reader:2.%d", i%2)},
				},
			},
		}
		return s.widgets().Body(widget).Do(ctx).Error()
	})
}

func (s *shop) move(ctx context.Context, n int) error {
	return s.each(ctx, s.first, n, func(ctx context.Context, i int) error {
		patch := fmt.Sprintf(`{"spec":{"nodeName":%q}}`, nodeName((i+1)%nodes))
		return s.client.Patch(types.MergePatchType).Namespace(namespace).Resource("widgets").Name(widgetName(i)).
			Body([]byte(patch)).Do(ctx).Error()
	})
}

func (s *shop) remove(ctx context.Context, n int) error {
	first := s.first
	s.first += n
	return s.each(ctx, first, n, func(ctx context.Context, i int) error {
		return s.client.Delete().Namespace(namespace).Resource("widgets").Name(widgetName(i)).Do(ctx).Error()
	})
}

func (s *shop) leave(ctx context.Context, site string) error {
	if err := s.client.Delete().Resource("sites").Name(site).Do(ctx).Error(); err != nil {
		return fmt.Errorf("delete site %s: %w", site, err)
	}
	return nil
}

// close deletes everything made by open and add, even after an interrupt.
func (s *shop) close(out *report) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	began := time.Now()
	if err := s.clear(ctx); err != nil {
		return err
	}
	out.line("clear", "widgets and sites deleted, in %s", since(began))
	return nil
}

// clear deletes all widgets and sites with the label, including sites with the finalizer of a
// killed controller.
func (s *shop) clear(ctx context.Context) error {
	remove := func(resource, namespace string) error {
		err := s.client.Delete().NamespaceIfScoped(namespace, namespace != "").Resource(resource).
			Param("labelSelector", s.label.String()).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("delete all %s with %s: %w", resource, s.label, err)
		}
		return nil
	}
	errs := []error{remove("widgets", namespace), remove("sites", "")}
	for _, c := range cities {
		err := s.client.Patch(types.MergePatchType).Resource("sites").Name(c.name).
			Body([]byte(`{"metadata":{"finalizers":null}}`)).Do(ctx).Error()
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("let go of site %s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

func (s *shop) widgets() *rest.Request {
	return s.client.Post().Namespace(namespace).Resource("widgets")
}

func (s *shop) each(ctx context.Context, first, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := first; i < first+n; i++ {
		group.Go(func() error {
			if err := do(ctx, i); err != nil {
				return fmt.Errorf("widget %s: %w", widgetName(i), err)
			}
			return nil
		})
	}
	return group.Wait()
}

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i+1) }

func widgetName(i int) string {
	colours := []string{"blue", "green", "red", "white"}
	return fmt.Sprintf("%s-%03d", colours[i%len(colours)], i+1)
}
