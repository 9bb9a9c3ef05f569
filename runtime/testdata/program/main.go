// SPDX-License-Identifier: Apache-2.0

// Program is a small program with a manager, for the test of an executable's size.
package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func main() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := source.NewClient(config)
	if err != nil {
		log.Fatal(err)
	}
	leader, err := election.New(config, election.Options{Name: "program"})
	if err != nil {
		log.Fatal(err)
	}
	m, err := manager.New(manager.Options{
		Config: config, Factory: factories.New(client), Election: leader, Address: "localhost:8080",
		Controllers: []manager.Descriptor{{Name: "pods", New: newController}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(m.Run(context.Background()))
}

func newController(_ context.Context, c *manager.Context) (manager.Runnable, error) {
	pods := factories.For[*corev1.Pod](c.Factory, corev1.SchemeGroupVersion.WithResource("pods"))
	return controller.New(c.Name, func(context.Context, object.Key) (controller.Result, error) {
		return controller.Result{}, nil
	}, controller.For(pods))
}
