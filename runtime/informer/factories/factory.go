// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"context"
	"errors"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// IsAtLeastV0_1 is used by code generated for runtime v0.1 or later. A package that does not
// compile because such a constant is missing was generated for a newer runtime than the one in
// go.mod: run "go get github.com/informer-gen/informer-gen@latest".
const IsAtLeastV0_1 = true

// ErrShutdown is wrapped by the errors of [Factory.Start] after Shutdown, and of
// [Factory.WaitForCacheSync] if informers had not synced before. It is also the cause with which
// the factory's informers end.
var ErrShutdown = errors.New("the factory was shut down")

// SharedInformerFactory is implemented by [Factory], which documents the methods, and by all
// generated factories.
type SharedInformerFactory interface {
	Start(ctx context.Context) error
	Shutdown(ctx context.Context) error
	WaitForCacheSync(ctx context.Context, opts ...informer.WaitOption) error
	// Base returns the Factory that holds the informers.
	Base() *Factory
}

// Factory makes informers that share a client and defaults. It has one informer for each resource,
// Go type, set of namespaces, selectors, shard and name. Make a Factory with [New]. Its methods may
// be called by any goroutine at any time.
type Factory struct {
	// set once at construction
	client   *source.Client
	settings settings.Settings
	errs     []error // about the arguments of New

	// mu guards the rest; a goroutine that holds it waits for nothing else
	mu        sync.Mutex
	informers map[informerKey]*member
	order     []*member     // in the order in which For made them
	endings   []endingLease // ended by Stop and Remove; their goroutines may still run
	started   bool
	shutdown  bool
}

// New returns a factory whose informers read through client. opts are their defaults; [WithKind]
// sets those of one kind. New starts nothing. [Factory.Start] returns errors about New's arguments.
func New(client *source.Client, opts ...informer.Option) *Factory {
	f := &Factory{client: client, settings: settings.Default()}
	if client == nil {
		f.errs = append(f.errs, errors.New("factories.New: the client is nil"))
	}
	if err := settings.ApplyAll(&f.settings, settings.InFactory, opts); err != nil {
		f.errs = append(f.errs, fmt.Errorf("factories.New: %w", err))
	}
	return f
}

// Base returns f.
func (f *Factory) Base() *Factory { return f }

// For returns the factory's informer of a resource whose objects have the type T, a pointer to a
// struct. For *unstructured.Unstructured and *metav1.PartialObjectMetadata ([ForMetadata]) the
// resource may be any; for a projection (see [object.NoMeta]) it is that of its objects. Options
// override those of [WithKind], which override the factory's. Other namespaces, selectors, another
// shard or another name result in another informer. The first call makes the informer. Later calls
// add the indexes it lacks. Their other options must agree with the first call's; functions agree
// if their code is the same.
//
// For starts nothing: only the caller of Start knows how long the informer has to run. An informer
// made after Start waits for the next Start, or for Acquire. Until then its listers' Get returns
// [informer.ErrNotSynced], and WaitForCacheSync names it.
//
// For never returns nil. Start returns errors about For's arguments, and so do the methods of an
// informer that could not be made.
func For[T object.Object](f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...informer.Option) *informer.SharedIndexInformer[T] {
	return view[T](memberOf(f, gvr, settings.TypeOf((*T)(nil)), opts))
}

// ForMetadata returns the factory's informer of the metadata of a resource, of any kind. The server
// sends only that, so it costs a fraction of the memory and traffic. The objects' kind is
// PartialObjectMetadata of meta.k8s.io/v1.
func ForMetadata(f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...informer.Option) *informer.SharedIndexInformer[*metav1.PartialObjectMetadata] {
	return For[*metav1.PartialObjectMetadata](f, gvr, opts...)
}

// Informers returns the informers made by For and not removed by Remove, oldest first. Each is a
// *informer.SharedIndexInformer[object.Object], whatever the type of its objects.
func (f *Factory) Informers() []Informer {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	informers := make([]Informer, len(f.order))
	for n, m := range f.order {
		informers[n] = view[object.Object](m)
	}
	return informers
}

// Metrics returns the provider that New got by [informer.WithMetrics], or nil.
func (f *Factory) Metrics() metrics.Provider {
	if f == nil {
		return nil
	}
	return f.settings.Metrics
}

// Start starts every informer that the factory does not run yet, and returns at once. They run
// until ctx is done or the factory stops them. Start may be called again, for informers made or
// stopped since, or after the ctx of an earlier call is done; an informer that still waits for its
// callbacks then runs again once they have returned. Start starts nothing and returns an error if
// New or For got wrong arguments, if ctx is nil or done (it wraps context.Cause(ctx)), and after
// Shutdown (it wraps [ErrShutdown]).
func (f *Factory) Start(ctx context.Context) error { return wrapError("Start", f.start(ctx)) }

// WaitForCacheSync waits until every informer that was started and not stopped has synced, and
// returns nil. Every 10 s it logs which informers have not synced, and why. An error says the same;
// it wraps the last error of each, and context.Cause(ctx) if ctx is done. [informer.FailOn] ends
// the wait earlier. WaitForCacheSync does not wait for informers that end before they have synced;
// after Shutdown the error wraps [ErrShutdown] too.
//
// It returns an error at once before the first Start. It also does so, wrapping
// [informer.ErrNotSynced] and naming the informer, if one would never sync because it was made
// after the last Start and is not run by Acquire or Run.
func (f *Factory) WaitForCacheSync(ctx context.Context, opts ...informer.WaitOption) error {
	return wrapError("WaitForCacheSync", f.waitForCacheSync(ctx, opts))
}

// Stop ends the factory's lease of one informer, and waits as Shutdown does, with the same error.
// The informer goes on if Acquire or Run keeps it running. The store of a stopped informer can
// still be read, and its handlers stay registered: the next Start runs it again, and they get the
// differences. Stop does nothing to an informer that was not started. It returns an error if the
// factory has no such informer.
func (f *Factory) Stop(ctx context.Context, one Informer) error {
	return wrapError("Stop", f.stop(ctx, one, false))
}

// Remove is Stop, and the factory forgets the informer at once, with the errors of the For that
// made it. The next For makes a new one. The informer's memory is freed once the program no longer
// refers to it.
func (f *Factory) Remove(ctx context.Context, one Informer) error {
	return wrapError("Remove", f.stop(ctx, one, true))
}

// Shutdown stops the informers started by Start and waits until all their goroutines have ended, or
// until ctx is done. Then the error wraps context.Cause(ctx) and names each handler that has not
// returned, with its object's key. Informers kept running by Acquire or Run go on. The factory
// cannot be started again. Shutdown may be called before Start, and more than once; each call
// waits.
func (f *Factory) Shutdown(ctx context.Context) error { return wrapError("Shutdown", f.shutDown(ctx)) }

// Informer is an [informer.SharedIndexInformer] of any type, with the methods independent of the
// type.
type Informer interface {
	HasSynced() bool
	Synced() <-chan struct{}
	WaitForCacheSync(ctx context.Context, opts ...informer.WaitOption) error
	Acquire(ctx context.Context) (*informer.Lease, error)
	Status() informer.Status
}

var _ Informer = (*informer.SharedIndexInformer[object.Object])(nil)

// GenericInformer is a typed informer without its type, as returned by the ForResource methods of
// generated factories. Its methods may be called by any goroutine at any time.
type GenericInformer interface {
	// Informer returns the same informer, with objects as object.Object, whose dynamic type is the
	// typed informer's type parameter.
	Informer() *informer.SharedIndexInformer[object.Object]
	// Lister returns a lister over the informer's store.
	Lister() *lister.Resource[object.Object]
}

// Generic returns i without its type. resource appears in the errors of the lister.
//
//go:noinline
func Generic[T object.Object](i *informer.SharedIndexInformer[T], resource schema.GroupResource) GenericInformer {
	return generic{(*informer.SharedIndexInformer[object.Object])(i), resource}
}
