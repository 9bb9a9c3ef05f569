// SPDX-License-Identifier: Apache-2.0

// Command webhooks serves the webhooks of Teams: a defaulter, a validator and a converter of
// controller-runtime, in a manager of this project. docs/webhooks.md explains it.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	v1 "github.com/informer-gen/informer-gen/examples/webhooks/api/v1"
	"github.com/informer-gen/informer-gen/examples/webhooks/api/v1beta1"
	"github.com/informer-gen/informer-gen/examples/webhooks/hooks"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/source"
)

//go:generate go tool controller-gen object paths=./api/...
//go:generate go tool controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
//go:generate go tool controller-gen webhook paths=./hooks/... output:webhook:dir=config/webhook

func main() {
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")) // or the Pod's
	if err != nil {
		return err
	}
	m, err := newManager(config, webhook.Options{CertDir: "/tmp/k8s-webhook-server/serving-certs"}, ":8081")
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// newManager returns a manager that serves the webhooks, and its health at address.
func newManager(config *rest.Config, server webhook.Options, address string) (*manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	client, err := source.NewClient(config)
	if err != nil {
		return nil, err
	}
	return manager.New(manager.Options{
		Config: config, Factory: factories.New(client), Address: address,
		Controllers: []manager.Descriptor{
			controllerruntime.Webhooks(scheme, server, hooks.SetupTeamWebhookWithManager),
		},
	})
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(v1.AddToScheme(scheme), v1beta1.AddToScheme(scheme))
}
