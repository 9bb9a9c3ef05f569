// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this program is about.

// Command endpoints-controller reimplements Kubernetes' endpoints controller: for each Service with
// a selector, it keeps the Endpoints object that lists the addresses of its Pods.
//
//	go run ./examples/endpoints-controller
//
// starts an API server in its own process, runs the controller against it, plays a user and a
// kubelet, prints the resulting Endpoints, and ends.
//
//	informer-gen.yaml   the three built-in kinds, the fields of Pods that count, and the index
//	                    that finds the Services of a Pod
//	generated           their informers, listers and projections, by go tool informer-gen
//	selectors           the keys of that index
//	endpoints           the rules for a Service's Endpoints: pure functions
//	reconciler          the controller around them: watches, retries, writes, events
//
// test/kubernetes/endpoints checks that Kubernetes' own controller and this one leave the same
// Endpoints behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/reconciler"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

//go:generate go tool informer-gen

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends it at once
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "endpoints-controller:", err)
		os.Exit(1)
	}
}

// batchPeriod is set to make batching visible; in a cluster the default is 0.
const batchPeriod = 200 * time.Millisecond

func run(ctx context.Context, w io.Writer) (err error) {
	var p program
	// Not ctx: an interrupt must end the controller before the server.
	server, err := devserver.Start(context.WithoutCancel(ctx), devserver.Options{BuiltInKinds: true, WrapHandler: p.countWrites})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := p.build(server.Config()); err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- p.control(ctx) }()
	err = show(ctx, w, server.Config(), &p)
	cancel()
	if e := <-ended; !errors.Is(e, context.Canceled) {
		err = errors.Join(err, e)
	}
	return err
}

type program struct {
	reconciler *reconciler.Reconciler
	events     events.EventBroadcaster
	endpoints  *informer.SharedIndexInformer[*corev1.Endpoints]
	writes     atomic.Int64 // requests to write Endpoints
}

func (p *program) build(config *rest.Config) error {
	client, err := source.NewClient(config)
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, informer.WithoutManagedFields())
	p.endpoints = factory.Core().V1().Endpoints().Informer()
	p.events = events.NewBroadcaster(&events.EventSinkImpl{Interface: clientset.EventsV1()})
	p.reconciler, err = reconciler.New(client, factory, reconciler.Options{
		BatchPeriod: batchPeriod,
		Recorder:    p.events.NewRecorder(scheme.Scheme, reconciler.Name),
	})
	return err
}

func (p *program) control(ctx context.Context) error {
	if err := p.events.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	defer p.events.Shutdown()
	return p.reconciler.Run(ctx)
}

func (p *program) countWrites(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.URL.Path, "/endpoints") && (req.Method == http.MethodPost || req.Method == http.MethodPut) {
			p.writes.Add(1)
		}
		next.ServeHTTP(w, req)
	})
}
