// SPDX-License-Identifier: Apache-2.0

// Command database is an operator. For each Database, it keeps a PostgreSQL server running: a
// StatefulSet, a Service, a Secret with the password, a CronJob for backups and a
// PodDisruptionBudget.
//
//	api         the kind Database, in two versions
//	hooks       its webhooks: defaults and validation
//	databases   its controller
//	backups.go  the store of the backups
//	generated   informers and listers of Databases and of the owned kinds
//	config      manifests by controller-gen, and the role that informer-gen rbac has written
//
// The tests run all of it against an API server that authorizes each request by that role.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	webhookmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	v1 "github.com/informer-gen/informer-gen/examples/database/api/v1"
	"github.com/informer-gen/informer-gen/examples/database/api/v1beta1"
	"github.com/informer-gen/informer-gen/examples/database/databases"
	"github.com/informer-gen/informer-gen/examples/database/hooks"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/source"
)

//go:generate go tool controller-gen object paths=./api/...
//go:generate go tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
//go:generate go tool controller-gen webhook paths=./hooks/... output:webhook:dir=config/webhook
//go:generate go tool informer-gen

func main() {
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, pflag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")) // or the Pod's
	if err != nil {
		return err
	}
	store := &backups{url: "http://backups.default.svc"}
	lease := election.Options{Namespace: "default", Name: databases.Name}
	o, err := newOptions(config, webhook.Options{}, store)
	if err != nil {
		return err
	}
	o.Address = ":8080"
	flags := pflag.NewFlagSet(databases.Name, pflag.ContinueOnError)
	flags.StringVar(&store.url, "backup-store", store.url, "URL of the store of the backups")
	lease.AddFlags(flags)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.Election, err = election.New(config, lease); err != nil {
		return err
	}
	m, err := manager.New(o)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// newOptions returns the options of the operator's manager. Flags set the others.
func newOptions(config *rest.Config, server webhook.Options, store *backups) (manager.Options, error) {
	scheme, schemeErr := newScheme()
	registry := prom.NewRegistry()
	metrics, metricsErr := prometheus.New(registry)
	client, clientErr := source.NewClient(config)
	if err := errors.Join(schemeErr, metricsErr, clientErr); err != nil {
		return manager.Options{}, err
	}
	factory := databases.NewFactory(client, informer.WithMetrics(metrics))
	newDatabases := func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		return databases.New(factory, c.Client, databases.Options{Recorder: c.Recorder, Store: store.url, Drop: store.drop})
	}
	// Both registries have the metrics of the process; the second ones are left out.
	all := prom.Gatherers{registry, webhookmetrics.Registry}
	return manager.Options{
		Config: config, Factory: factory,
		MetricsHandler: promhttp.HandlerFor(all, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}),
		Controllers: []manager.Descriptor{
			{Name: "databases", New: newDatabases},
			controllerruntime.Webhooks(scheme, server, hooks.SetupDatabaseWebhookWithManager),
		},
	}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1.AddToScheme(scheme), v1beta1.AddToScheme(scheme))
}
