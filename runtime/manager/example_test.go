// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/access"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A program with two controllers, of which a flag selects one.
func Example() {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})
	ctx, cancel := context.WithCancelCause(context.Background())

	options := manager.Options{Config: server.Config()}
	client, err := source.NewClient(options.Config)
	if err != nil {
		log.Fatal(err)
	}
	options.Factory = factories.New(client) // or a generated factory
	newMaps := func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		informer := factories.For[*corev1.ConfigMap](options.Factory, mapsResource)
		return controller.New(c.Name, func(_ context.Context, key object.Key) (controller.Result, error) {
			fmt.Println("reconcile", key)
			cancel(errors.New("done"))
			return controller.Result{}, nil
		}, controller.For(informer))
	}
	options.Controllers = []manager.Descriptor{
		{Name: "maps", New: newMaps},
		controllerOf("sweeper", func(context.Context) error { panic("the flag leaves it out") }),
	}
	flags := pflag.NewFlagSet("example", pflag.ContinueOnError)
	options.AddFlags(flags)
	if err := flags.Parse([]string{"--controllers=*,-sweeper"}); err != nil {
		log.Fatal(err)
	}
	m, err := manager.New(options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Run(ctx))
	// Output:
	// reconcile shop/blue
	// done
}

// A program whose metrics only those may get whom the API server allows it. Options.CertFile and
// KeyFile would let Options.Address serve HTTPS.
func Example_metrics() {
	server := sourcetest.New()
	maps := sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap")
	maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})
	config := server.Config()
	client, err := source.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := prometheus.New(prom.NewRegistry()) // or prom.DefaultRegisterer
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client, informer.WithMetrics(metrics)) // the one place for all metrics
	reviews, err := access.New(config)
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithCancelCause(context.Background())
	var m *manager.Manager
	scrape := func() { // as a client without a token
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	newMaps := func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		return controller.New(c.Name, func(context.Context, object.Key) (controller.Result, error) {
			scrape()
			cancel(errors.New("done"))
			return controller.Result{}, nil
		}, controller.For(factories.For[*corev1.ConfigMap](factory, mapsResource)))
	}
	m, err = manager.New(manager.Options{
		Config: config, Factory: factory, AuthorizeMetrics: reviews.Authorize,
		Controllers: []manager.Descriptor{{Name: "maps", New: newMaps}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Run(ctx))
	// Output:
	// 401 manager: refused: the request has no bearer token
	// done
}

// A program that runs as several processes. All of them answer probes; the controllers work in the
// process that leads.
func Example_election() {
	server := sourcetest.New()
	sourcetest.Serve[*coordinationv1.Lease](server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap").Create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"},
	})
	config := server.Config()
	client, err := source.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	e, err := election.New(config, election.Options{Namespace: "shop", Name: "maps"})
	if err != nil {
		log.Fatal(err)
	}

	factory := factories.New(client)
	ctx, cancel := context.WithCancelCause(context.Background())
	newMaps := func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		informer := factories.For[*corev1.ConfigMap](factory, mapsResource)
		return controller.New(c.Name, func(_ context.Context, key object.Key) (controller.Result, error) {
			fmt.Println("reconcile", key, "leading:", c.Leading())
			cancel(errors.New("done"))
			return controller.Result{}, nil
		}, controller.Options{}, controller.For(informer))
	}
	m, err := manager.New(manager.Options{
		Config: config, Factory: factory, Election: e,
		Controllers: []manager.Descriptor{{Name: "maps", New: newMaps}},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Options.Address serves the handler, or else the program does.
	probe := func(path string) {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, w.Code)
	}
	probe("/healthz")
	fmt.Println(m.Run(ctx))
	fmt.Println("leading:", e.Leading())
	// Output:
	// /healthz 200
	// reconcile shop/blue leading: true
	// done
	// leading: false
}
