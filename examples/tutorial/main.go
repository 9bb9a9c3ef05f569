// SPDX-License-Identifier: Apache-2.0

// Command tutorial gives each member of a Team a desk: the program that docs/tutorial.md writes.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/tutorial/generated/informers"
	"example.com/tutorial/teams"
	"github.com/informer-gen/informer-gen/runtime/inspect"
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

// run runs the controller until ctx is done. The page of its informers is at address.
func run(ctx context.Context, address string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")) // or the Pod's
	if err != nil {
		return err
	}
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client)
	c, err := teams.New(factory, client, lockDoor)
	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	page, served := &http.Server{Handler: inspect.Handler(factory), ReadHeaderTimeout: time.Minute}, make(chan error, 1)
	go func() { served <- page.Serve(listener) }()
	defer func() { _ = page.Close(); <-served }()

	return c.Run(ctx)
}

// lockDoor stands for what the world outside of the cluster has to be told.
func lockDoor(_ context.Context, team string) error {
	log.Println("locked the door of team", team)
	return nil
}
