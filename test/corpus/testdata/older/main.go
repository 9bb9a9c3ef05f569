// SPDX-License-Identifier: Apache-2.0

// Program user has a manager of controller-runtime beside a factory of generated informers. It is only compiled.
package main

import (
	"context"
	"errors"
	"log"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/source"

	"corpus.example/user/generated/informers"
)

func main() {
	config := ctrl.GetConfigOrDie()
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		log.Fatal(err)
	}
	client, err := source.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := prometheus.NewInformers(ctrlmetrics.Registry)
	if err != nil {
		log.Fatal(err)
	}
	ctx := ctrl.SetupSignalHandler()
	factory := informers.NewSharedInformerFactory(client, informer.WithMetrics(metrics))
	if err := errors.Join(factory.Start(ctx), manager.Start(ctx), factory.Shutdown(context.Background())); err != nil {
		log.Fatal(err)
	}
}
