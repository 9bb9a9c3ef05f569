// SPDX-License-Identifier: Apache-2.0

// Command tutorial gives each member of a Team a desk.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-gen/informer-gen/examples/tutorial/generated/informers"
	"github.com/informer-gen/informer-gen/examples/tutorial/teams"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/source"
)

//go:generate go tool informer-gen

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "localhost:8080"); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// run runs the controller until ctx is done, while this process leads. Its health and the page of
// its informers are at address.
func run(ctx context.Context, address string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")) // or the Pod's
	if err != nil {
		return err
	}
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	leader, err := election.New(config, election.Options{Namespace: "default", Name: "teams"})
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client)
	newTeams := func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
		return teams.New(factory, c.Client, lockDoor) // which writes only while this process leads
	}
	m, err := manager.New(manager.Options{
		Config: config, Factory: factory, Election: leader, Address: address,
		Controllers: []manager.Descriptor{{Name: "teams", New: newTeams}},
	})
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// lockDoor stands for a call to the world outside of the cluster.
func lockDoor(_ context.Context, team string) error {
	log.Println("locked the door of team", team)
	return nil
}
