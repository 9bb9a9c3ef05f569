// SPDX-License-Identifier: Apache-2.0

// Command crd-sample is a small controller project: it has an API (api/v1alpha1), CRDs and
// informers generated from it (config/crd, generated), and this program, which shows the informers
// at work.
//
// It runs the generator and starts an API server in memory, all in its own process. Then it creates
// a few hundred objects, runs a SharedInformerFactory, prints its handlers' events, asks the
// indexes five questions, changes and deletes objects, and prints the results. Then it runs a
// controller of the sites (controller.go), deletes a site, and ends. With --watch it goes on until
// interrupted.
//
// With --kubeconfig it uses a cluster instead: it installs the CRDs there, and removes its objects
// in the end. If interrupted before, it removes them, too, and exits with code 130.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	"github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers"
	samples "github.com/informer-gen/informer-gen/examples/crd-sample/generated/informers/samples/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

//go:generate go tool informer-gen

func main() {
	var opts options
	flag.StringVar(&opts.kubeconfig, "kubeconfig", "", "use the cluster of this `file` instead of a server in memory")
	flag.BoolVar(&opts.watch, "watch", false, "keep running and print every change, until interrupted")
	flag.BoolVar(&opts.generate, "generate", true, "run the generator first; skipped where the sources are not")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "crd-sample: unexpected argument %q\n", flag.Arg(0))
		flag.Usage()
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	switch err := run(ctx, os.Stdout, opts); {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "crd-sample: interrupted:", err)
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "crd-sample:", err)
		os.Exit(1)
	}
}

type options struct {
	kubeconfig string
	watch      bool
	generate   bool
}

const (
	widgetsBefore = 300 // created before the informers start
	widgetsAfter  = 60  // created while they run
	changes       = 40
	deletions     = 25
)

func run(ctx context.Context, w io.Writer, opts options) (err error) {
	out := newReport(w)
	if opts.generate {
		if err := generate(ctx, out); err != nil {
			return err
		}
	}

	config, stop, err := connect(out, opts.kubeconfig)
	if err != nil {
		return err
	}
	defer func() {
		stop() // not when ctx ends: the informers end before the server
		if err == nil {
			out.line("end", "all stopped")
		}
	}()
	shop, err := newShop(config)
	if err != nil {
		return err
	}
	if opts.kubeconfig != "" {
		if err := shop.install(ctx, out); err != nil {
			return err
		}
		// leave the cluster as it was, except for the CRDs and the namespace
		defer func() { err = errors.Join(err, shop.close(out)) }()
	}
	began := time.Now()
	if err := shop.open(ctx, widgetsBefore); err != nil {
		return err
	}
	out.line("create", "%d widgets and %d sites, in %s", widgetsBefore, len(cities), since(began))

	return observe(ctx, out, config, shop, opts)
}

func observe(ctx context.Context, out *report, config *rest.Config, shop *shop, opts options) (err error) {
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	// Widgets have options of their own: only one namespace is watched, and conditions, which this
	// program doesn't read, are not kept.
	factory := informers.NewSharedInformerFactory(client, informer.WithLabelSelector(shop.label),
		samples.WithWidgets(factories.KindOptions[*v1alpha1.Widget]{
			Namespaces: []string{namespace},
			Transform: func(w *v1alpha1.Widget) (*v1alpha1.Widget, error) {
				w.Status.Conditions = nil
				return w, nil
			},
		}))
	widgets := factory.Samples().V1alpha1().Widgets()
	sites := factory.Samples().V1alpha1().Sites()
	// A second informer of widgets, as an agent on one node needs it.
	local := widgets.With(factories.KindOptions[*v1alpha1.Widget]{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node),
	}).Informer()

	var seen tally
	if _, err := widgets.Informer().AddEventHandler(watchWidgets(out, &seen)); err != nil {
		return err
	}
	if _, err := sites.Informer().AddEventHandler(informer.HandlerFuncs[*v1alpha1.Site]{
		AddFunc: func(*v1alpha1.Site, bool) { seen.count(&seen.sites) },
	}); err != nil {
		return err
	}

	began := time.Now()
	if err := factory.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shutdown(factory)) }()
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	out.line("sync", "%d widgets and %d sites in the store after %s",
		widgets.Informer().Store().Snapshot().Len(), sites.Informer().Store().Snapshot().Len(), since(began))
	out.line("", "%d widgets in that of %s", local.Store().Snapshot().Len(), local.Status().Name)
	if err := seen.wait(ctx, func() bool { return seen.initial >= widgetsBefore && seen.sites >= len(cities) }); err != nil {
		return err
	}
	out.line("handlers", "%d + %d adds of the initial list after %s", widgetsBefore, len(cities), since(began))

	ask(out, widgets.Lister(), sites.Lister())

	if err := live(ctx, out, shop, &seen); err != nil {
		return err
	}
	ask(out, widgets.Lister(), sites.Lister())

	stop, err := control(ctx, out, shop, factory, client)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}

	if opts.watch {
		seen.showAll()
		out.line("watch", "every change of these widgets is printed, until Ctrl-C; try:")
		widget := widgetName(widgetsBefore - 2) // not one of the deleted site
		if opts.kubeconfig != "" {
			out.line("", "kubectl --kubeconfig %s -n %s delete widget %s", opts.kubeconfig, namespace, widget)
		} else { // kubectl would run discovery
			out.line("", "curl -X DELETE %s/apis/%s/namespaces/%s/widgets/%s", config.Host, v1alpha1.GroupVersion, namespace, widget)
		}
		<-ctx.Done()
	}
	return nil
}

func watchWidgets(out *report, seen *tally) informer.Handler[*v1alpha1.Widget] {
	return informer.HandlerFuncs[*v1alpha1.Widget]{
		AddFunc: func(w *v1alpha1.Widget, isInInitialList bool) {
			if isInInitialList {
				seen.count(&seen.initial)
				return
			}
			if seen.count(&seen.added) {
				out.line("  add", "%-14s %-8s on %s", w.Name, w.Spec.Tier, nodeOf(w))
			}
		},
		UpdateFunc: func(old, obj *v1alpha1.Widget) {
			if seen.count(&seen.updated) {
				out.line("  update", "%-14s %s → %s, version %s", obj.Name, nodeOf(old), nodeOf(obj), obj.ResourceVersion)
			}
		},
		DeleteFunc: func(d informer.Deleted[*v1alpha1.Widget]) {
			if seen.count(&seen.deleted) {
				out.line("  delete", "%-14s was on %s", d.Key.Name, nodeOf(d.Object))
			}
		},
	}
}

const node = "node-07"

func ask(out *report, widgets listers.WidgetLister, sites listers.SiteLister) {
	const image, tier = "display:1.1", v1alpha1.Bronze
	site, err := sites.Get(cities[0].name)
	if err != nil {
		out.line("index", "%v", err)
		return
	}
	began := time.Now()
	answers := []struct {
		index, key string
		widgets    []*v1alpha1.Widget
	}{
		{"ByNode", node, widgets.ListByNode(node)},
		// each index has an iterator, too
		{"ByImage", image, slices.Collect(widgets.ByImage(image))},
		{"ByOwner", site.Name, widgets.ListByOwner(site.UID)},
		{"ByNodeAndTier", fmt.Sprint(node, " ", tier), widgets.ListByNodeAndTier(listers.WidgetByNodeAndTierKey{NodeName: node, Tier: tier})},
		// a key within a namespace
		{"ByTier", fmt.Sprint(tier, " in ", namespace), widgets.Widgets(namespace).ListByTier(tier)},
	}
	took := since(began)
	for _, a := range answers {
		out.line("index", "%-13s %-15s %3d widgets: %s", a.index, a.key, len(a.widgets), names(a.widgets, 3))
	}
	out.line("", "all answered from memory in %s", took)
}

func live(ctx context.Context, out *report, shop *shop, seen *tally) error {
	steps := []struct {
		name string
		n    int
		do   func(context.Context, int) error
		seen *int
	}{
		{"create", widgetsAfter, shop.add, &seen.added},
		{"change", changes, shop.move, &seen.updated},
		{"delete", deletions, shop.remove, &seen.deleted},
	}
	for _, step := range steps {
		seen.show(2)
		began := time.Now()
		if err := step.do(ctx, step.n); err != nil {
			return err
		}
		written := time.Now()
		if err := seen.wait(ctx, func() bool { return *step.seen >= step.n }); err != nil {
			return err
		}
		out.line(step.name, "%d widgets in %s; the handler had seen them all %s after the last answer",
			step.n, short(written.Sub(began)), since(written))
	}
	return nil
}

// control runs the controller of sites, deletes a site, and waits until it is gone. The caller must
// call stop.
func control(ctx context.Context, out *report, shop *shop, factory informers.SharedInformerFactory, client *source.Client) (stop func() error, err error) {
	c, err := newSiteController(factory, client)
	if err != nil {
		return func() error { return nil }, err
	}
	sites, widgets := factory.Samples().V1alpha1().Sites().Informer(), factory.Samples().V1alpha1().Widgets()
	want := map[string]int{} // each site's future number of widgets, with its kiosk
	for _, city := range cities {
		want[city.name] = len(widgets.Lister().ListBySite(city.name)) + 1
	}

	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := c.Run(ctx)
		cancel(err) // ends all waits for the controller
		ended <- err
	}()
	stop = func() error {
		cancel(errDone)
		if err := <-ended; !errors.Is(err, errDone) && !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	}

	var counts []int32
	err = sites.Until(ctx, func(all *store.Snapshot[*v1alpha1.Site]) (bool, error) {
		counts = nil
		for _, city := range cities {
			site, ok := all.Get(object.Key{Name: city.name})
			if !ok || int(site.Status.Widgets) != want[city.name] {
				return false, nil
			}
			counts = append(counts, site.Status.Widgets)
		}
		return true, nil
	})
	if err != nil {
		return stop, err
	}
	out.line("control", "%d sites have a kiosk each, and %v widgets in their status, after %s", len(counts), counts, since(began))

	began = time.Now()
	closed := cities[len(cities)-1].name
	if err := shop.leave(ctx, closed); err != nil {
		return stop, err
	}
	err = sites.Until(ctx, func(all *store.Snapshot[*v1alpha1.Site]) (bool, error) {
		_, ok := all.Get(object.Key{Name: closed})
		return !ok, nil
	})
	if err == nil {
		out.line("", "%s is deleted, after its widgets: %d are left, after %s", closed, len(widgets.Lister().ListBySite(closed)), since(began))
	}
	return stop, err
}

var errDone = errors.New("all is shown")

func shutdown(factory informers.SharedInformerFactory) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return factory.Shutdown(ctx)
}
