// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Endpoints are what this package is about.

// Package reconciler keeps the Endpoints of all Services in line with package endpoints.
//
//	Service changes  ─────────────────────────▶ its key ──────────────┐
//	Pod changes      ─▶ index ─▶ keys of its Services, after a while ▶├▶ work queue ─▶ reconcile
//	Endpoints go     ─────────────────────────▶ its key ──────────────┤       ▲            │
//	Endpoints that are there at the start ────▶ their keys ───────────┘       └── errors ──┤
//	                                            held until the cache has the write ◀───────┘
package reconciler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/endpoints"
	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	listers "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/listers/core/v1"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// Name is the controller's name in logs and metrics.
const Name = "endpoints"

const (
	defaultConcurrency = 5
	// maxRetries lasts for one or two minutes of failures. After that a Service is reconciled again
	// only at a change, or a restart.
	maxRetries = 15
)

// Options configure a [Reconciler]. The zero value is ready to use.
type Options struct {
	// Concurrency is the number of Services reconciled at once. 0 means 5.
	Concurrency int
	// BatchPeriod delays the reconcile of a Service after changes of its Pods, to collect more of
	// them. Longer periods save writes during a rollout. 0 means no batching.
	BatchPeriod time.Duration
	// Recorder gets an event for each failed write. Nil means none.
	Recorder events.EventRecorder
	// Metrics gets the metrics of the controller and of its queue. Nil means none.
	Metrics metrics.ControllerProvider
}

// Reconciler writes the Endpoints of Services. Make one with [New]; it is one controller of a
// program.
type Reconciler struct {
	// set once at construction
	controller *controller.Controller
	services   listers.ServiceLister
	pods       listers.PodEndpointLister
	endpoints  listers.EndpointsLister
	writer     *writer.Writer[*corev1.Endpoints]
	recorder   events.EventRecorder

	serviceInformer   *informer.SharedIndexInformer[*corev1.Service]
	endpointsInformer *informer.SharedIndexInformer[*corev1.Endpoints]

	times endpoints.TriggerTimes
}

// New returns a Reconciler that writes by client, and reads by the informers of factory, which it
// shares with the rest of the program. It starts nothing.
func New(client *source.Client, factory informers.SharedInformerFactory, options Options) (*Reconciler, error) {
	if options.BatchPeriod < 0 {
		return nil, fmt.Errorf("reconciler.New: negative BatchPeriod %v", options.BatchPeriod)
	}
	if options.Concurrency == 0 {
		options.Concurrency = defaultConcurrency
	}
	core := factory.Core().V1()
	r := &Reconciler{
		services:  core.Services().Lister(),
		pods:      core.PodEndpoints().Lister(),
		endpoints: core.Endpoints().Lister(),
		recorder:  options.Recorder,

		serviceInformer:   core.Services().Informer(),
		endpointsInformer: core.Endpoints().Informer(),
	}
	var wrongWriter, wrongController error
	r.writer, wrongWriter = writer.New[*corev1.Endpoints](client, listers.EndpointsResource(), writer.Options{OnWrite: controller.Wrote})
	r.controller, wrongController = controller.New(Name, r.reconcile,
		controller.Options{Concurrency: options.Concurrency, MaxRetries: maxRetries, Metrics: options.Metrics},
		controller.For(r.serviceInformer),
		controller.Watches(core.PodEndpoints().Informer(), r.servicesOf, endpoints.PodChanged).After(options.BatchPeriod),
		controller.Watches(r.endpointsInformer, serviceOf, deletions),
	)
	if err := errors.Join(wrongWriter, wrongController); err != nil {
		return nil, fmt.Errorf("reconciler.New: %w", err)
	}
	return r, nil
}

func serviceOf(e *corev1.Endpoints, dst []object.Key) []object.Key {
	return append(dst, object.KeyOf(e))
}

// Run reconciles until ctx is done, and returns the reason for its end after all its goroutines
// have ended. The informers run as long.
func (r *Reconciler) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { r.queueLeftovers(ctx) })
	return r.controller.Run(ctx)
}

// Status returns the controller's status.
func (r *Reconciler) Status() controller.Status { return r.controller.Status() }
