// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var (
	// ErrNotOwned is wrapped by the errors of refused requests, and by the cancellation cause of
	// requests cut off: this process may not work on the object any more.
	ErrNotOwned = partition.ErrNotOwned
	// ErrMismatch is wrapped by Run's error if the other members have another By, Buckets or Roots.
	ErrMismatch = errors.New("the other members of the ring have other settings")
	// ErrLost is wrapped by Run's error if this process could not renew its Lease in time, or the
	// others took it.
	ErrLost = errors.New("the lease was lost")

	errRunning = errors.New("it is running already; wait until Run has returned")
)

// Ring is one process's part in a ring. Make one with [New]. Any goroutine may call its methods at
// any time.
type Ring struct {
	// set once at construction
	options  Options
	config   *rest.Config
	settings string
	hub      *partition.Hub
	client   coordinationclient.LeaseInterface
	leases   *informer.SharedIndexInformer[*coordinationv1.Lease]
	gate     *gate // of the requests of Fence's clients; fence.go says who moves it

	mu      sync.Mutex // mu guards the fields below
	running bool
	last    *run // the current or last run; nil before the first
}

var leaseResource = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// New returns a Ring, and starts nothing. Its Leases are kept by requests of config. The error
// names the invalid options, or says why config makes no client.
func New(config *rest.Config, options Options) (*Ring, error) {
	fail := func(err error) (*Ring, error) { return nil, fmt.Errorf("shard.New: %w", err) }
	if config == nil {
		return fail(errors.New("config is nil; get one from clientcmd or rest.InClusterConfig"))
	}
	if err := options.validate(); err != nil {
		return fail(err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	reading, err := source.NewClient(config) // its watch may last
	if err != nil {
		return fail(err)
	}
	config.UserAgent += "/shard"
	config.Timeout = options.requestTimeout()
	client, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return fail(err)
	}
	selector := labels.SelectorFromSet(labels.Set{ringLabel: options.Name})
	src, err := source.New[*coordinationv1.Lease](reading, leaseResource, source.Options{Namespace: options.Namespace, LabelSelector: selector.String()})
	if err != nil {
		return fail(err)
	}
	leases, err := informer.New(src, informer.WithName("ring "+options.Name))
	if err != nil {
		return fail(err)
	}
	hub := partition.NewHub(partition.Partition{By: options.By, Buckets: options.Buckets, Roots: options.Roots})
	return &Ring{
		options: options, config: config, settings: settingsText(&options), hub: hub,
		client: client.Leases(options.Namespace), leases: leases, gate: newGate(hub),
	}, nil
}

// requestTimeout leaves time to repeat a renewal.
func (o *Options) requestTimeout() time.Duration {
	return max(time.Second, (o.LeaseDuration-o.Margin)/3)
}

// Run takes part in the ring until ctx is done. Once this process is a member, Run calls work,
// once, on a goroutine of its own, with a context that ends when the process has given up
// everything, or its lease is lost. Controllers run in work: they get the keys of this process's
// buckets, and go on with them after ctx is done until other members have loaded these buckets. A
// leaving member waits for the others for at most LeaseDuration and Grace.
//
// If work returns before, the process leaves the ring. Run returns after work and all its
// goroutines have ended. The error is context.Cause(ctx), wraps [ErrLost] or [ErrMismatch], or is
// the error of work. Run may be called again; the process is then another member.
func (r *Ring) Run(ctx context.Context, work func(ctx context.Context) error) error {
	fail := func(err error) error {
		return fmt.Errorf("ring %s/%s: %w", r.options.Namespace, r.options.Name, err)
	}
	if ctx == nil || work == nil {
		return fail(errors.New("the context or the function is nil"))
	}
	m, err := r.begin(ctx)
	if err != nil {
		return fail(err)
	}
	defer r.end()
	if err := m.do(ctx, work); err != nil {
		return fail(err)
	}
	return context.Cause(ctx)
}

func (r *Ring) begin(ctx context.Context) (*run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		return nil, errRunning
	}
	identity := newIdentity(r.options.Identity)
	o := r.options
	coordinator, err := election.New(r.config, election.Options{
		Namespace: o.Namespace, Name: o.Name, Identity: identity,
		LeaseDuration: o.LeaseDuration, RenewDeadline: o.LeaseDuration - o.Margin - o.RetryPeriod, RetryPeriod: o.RetryPeriod, Margin: o.Margin,
	})
	if err != nil {
		return nil, err
	}
	r.running, r.last = true, newRun(ctx, r, identity, coordinator)
	return r.last, nil
}

func (r *Ring) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
}

func (r *Ring) lastRun() *run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Name returns the name of the ring.
func (r *Ring) Name() string { return r.options.Name }

// Owns reports whether this process works on the root with this key. With ByUID, which can't tell
// by a key, it returns false.
func (r *Ring) Owns(key object.Key) bool {
	bucket, known := r.hub.Locate(object.Meta{Namespace: key.Namespace, Name: key.Name})
	return known && r.hub.Epoch(bucket) > 0
}

// Hub joins informers and controllers to the ring. It is for informer.WithRing and
// controller.Options.
func (r *Ring) Hub() *partition.Hub { return r.hub }
