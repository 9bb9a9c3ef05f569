// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// SharedInformerFactory is what this package's Factory and all generated factories implement.
type SharedInformerFactory interface {
	// Start runs the informers that the factory has and does not run; see Factory.Start.
	Start(ctx context.Context) error
	// Shutdown ends them; see Factory.Shutdown.
	Shutdown(ctx context.Context) error
	// WaitForCacheSync waits until they have synced; see Factory.WaitForCacheSync.
	WaitForCacheSync(ctx context.Context, opts ...WaitOption) error
	// Base returns the Factory that holds the informers. It can stop and remove single ones.
	Base() *Factory
}

// Factory makes informers that share a client and defaults and are started and stopped together, or
// one by one: one informer for each resource, Go type, set of namespaces, selectors, shard and
// name, however often For asks for it. Make a Factory with NewFactory. Its methods may be called by
// any goroutine at any time.
type Factory struct {
	// set once at construction
	client   *source.Client
	settings settings
	errs     []error // about the arguments of NewFactory

	mu        sync.Mutex // mu guards what follows; it is never held while something is waited for
	informers map[informerKey]*entry
	order     []*entry // in the order in which For made them
	endings   []ending // of Stop and Remove, until they have ended
	started   bool
	shutdown  bool
}

// NewFactory returns a factory whose informers read through client and have opts as their defaults,
// those of WithKind for one kind only. It starts nothing. Errors about the arguments are returned
// by Start.
func NewFactory(client *source.Client, opts ...Option) *Factory {
	f := &Factory{client: client, settings: defaults()}
	if client == nil {
		f.errs = append(f.errs, errors.New("informer.NewFactory: the client is nil"))
	}
	if err := f.settings.applyAll(inFactory, opts); err != nil {
		f.errs = append(f.errs, fmt.Errorf("informer.NewFactory: %w", err))
	}
	return f
}

// Base returns f.
func (f *Factory) Base() *Factory { return f }

// For returns the factory's informer of a resource whose objects have the type T, a pointer to a
// struct; for *unstructured.Unstructured and *metav1.PartialObjectMetadata (ForMetadata) the
// resource may be any. Options override those of WithKind, which override those of the factory. The
// namespaces, selectors, shard and name that result are part of what an informer is: other ones,
// another informer. The first call makes the informer. Later calls add the indexes of opts that it
// lacks, and their other options must agree with those that it was made with; functions agree if
// their code is the same. For starts nothing, since only who calls Start knows for how long an
// informer is to run: one that is made after Start waits for the next Start, or is started by
// Acquire. Until then its listers' Get returns ErrNotSynced, and WaitForCacheSync names it.
//
// For never returns nil. Errors about its arguments are returned by Start, and also by the methods
// of an informer that could not be made.
func For[T object.Object](f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...Option) *SharedIndexInformer[T] {
	return view[T](entryOf(f, gvr, typeOf((*T)(nil)), opts))
}

// ForMetadata returns the factory's informer of the metadata of a resource, of any kind: the server
// sends nothing else, so that it costs a fraction of the memory and of the traffic. The objects say
// that their kind is PartialObjectMetadata of meta.k8s.io/v1, as the server does.
func ForMetadata(f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...Option) *SharedIndexInformer[*metav1.PartialObjectMetadata] {
	return For[*metav1.PartialObjectMetadata](f, gvr, opts...)
}

// Informers returns the informers that For has made and Remove has not removed, in the order in
// which they were made.
func (f *Factory) Informers() []Informer {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	informers := make([]Informer, len(f.order))
	for n, e := range f.order {
		informers[n] = &SharedIndexInformer[object.Object]{e.engine}
	}
	return informers
}

// Start runs every informer of the factory that it does not run, until ctx is done or the factory
// stops it, and returns at once. It may be called again, for informers that were made or stopped
// since, or after the ctx of an earlier call is done: an informer that still waits for its
// callbacks then runs again as soon as they have returned. It starts nothing and returns an error
// if NewFactory or For was given wrong arguments, if ctx is nil or done (wrapping
// context.Cause(ctx)), and after Shutdown (wrapping ErrShutdown).
func (f *Factory) Start(ctx context.Context) error { return failed("Start", f.start(ctx)) }

// WaitForCacheSync waits until every informer that was started and not stopped has synced, and
// returns nil then. One that was made after the last Start, and that nothing else runs, would never
// sync: then it returns an error at once, which wraps ErrNotSynced and names it. While it waits, it
// logs every 10 s which ones it waits for, and why. The error names those that have not synced, and
// why; it wraps the last error of each, and context.Cause(ctx) if ctx was done. FailOn ends it
// earlier. Informers that end before they have synced are no longer waited for; after Shutdown the
// error wraps ErrShutdown too. Before the first Start, it returns an error at once.
func (f *Factory) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	return failed("WaitForCacheSync", f.waitForCacheSync(ctx, opts))
}

// Stop takes back what Start did to one informer: it ends, unless somebody else keeps it running by
// Acquire or Run, and Stop waits until all its goroutines have ended, or until ctx is done; then
// the error is like that of Shutdown. Its store can be read on, and its handlers stay registered:
// the next Start runs it again, and they get the differences. An informer that was not started is
// left alone. It is an error if the factory has no such informer.
func (f *Factory) Stop(ctx context.Context, informer Informer) error {
	return failed("Stop", f.stop(ctx, informer, false))
}

// Remove does what Stop does, and forgets the informer at once, with the errors of the For that
// made it: the next For makes a new one, and its memory is free as soon as nobody else refers to
// it.
func (f *Factory) Remove(ctx context.Context, informer Informer) error {
	return failed("Remove", f.stop(ctx, informer, true))
}

// Shutdown stops the informers that Start has started and waits until all their goroutines have
// ended, or until ctx is done; then the error wraps context.Cause(ctx) and names each handler that
// has not returned, with the key of the object that it was called for. Those that somebody else
// keeps running, by Acquire or Run, go on. The factory cannot be started again. Calling Shutdown
// before Start, or more than once, is fine; each call waits.
func (f *Factory) Shutdown(ctx context.Context) error { return failed("Shutdown", f.shutDown(ctx)) }

// --- private from here ---

type informerKey struct {
	gvr  schema.GroupVersionResource
	kind goType
	identity
}

// entry is one informer of a factory.
type entry struct {
	// set once at construction
	key      informerKey
	engine   *engine.Informer
	settings settings // as it was made
	broken   bool     // engine is broken

	viewOnce sync.Once
	view     any // the one *SharedIndexInformer[T] over engine, whatever T is

	// the factory's mu guards what follows
	errs  []error                 // what Start returns
	begun bool                    // Start has run it once
	lease *engine.Lease           // of the last Start; nil before it and after Stop
	ctx   context.Context         // of lease
	end   context.CancelCauseFunc // of ctx
}

var (
	errStopped = errors.New("the factory has stopped the informer")
	errNil     = errors.New("the factory is nil; make one with NewFactory")
	errContext = errors.New("the context is nil")
)

func failed(call string, err error) error {
	if err != nil {
		return fmt.Errorf("informer factory: %s: %w", call, err)
	}
	return nil
}

// view returns the one typed informer over e.
func view[T object.Object](e *entry) *SharedIndexInformer[T] {
	return e.first(&SharedIndexInformer[T]{e.engine}).(*SharedIndexInformer[T])
}

func (e *entry) first(view any) any {
	e.viewOnce.Do(func() { e.view = view })
	return e.view
}

// entryOf is For without its type. For a nil factory it returns an entry whose engine only fails.
func entryOf(f SharedInformerFactory, gvr schema.GroupVersionResource, t goType, opts []Option) *entry {
	if !isNil(f) {
		if base := f.Base(); base != nil {
			return base.lookup(gvr, t, opts)
		}
	}
	name := resourceName(gvr)
	return &entry{engine: engine.Broken(name, fmt.Errorf("informer.For %s: the factory is nil", name))}
}

// lookup finds or makes the entry of an informer.
func (f *Factory) lookup(gvr schema.GroupVersionResource, t goType, opts []Option) *entry {
	s := f.settings
	s.objectType = t
	wrong := s.applyKind(gvr)
	kind := s.identity
	wrong = errors.Join(wrong, s.applyAll(inFor, opts))
	e, found := f.findOrMake(informerKey{gvr, t, s.identity}, kind, &s, wrong)
	if !found || e.broken {
		return e
	}
	if wrong == nil {
		wrong = e.adjust(opts)
	}
	if wrong != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		err := fmt.Errorf("informer.For %s: %w", resourceName(gvr), wrong)
		if !slices.ContainsFunc(e.errs, func(known error) bool { return known.Error() == err.Error() }) {
			e.errs = append(e.errs, err)
		}
	}
	return e
}

func (f *Factory) findOrMake(key informerKey, kind identity, s *settings, wrong error) (e *entry, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.informers[key]; e != nil {
		return e, true
	}
	e = &entry{key: key, settings: *s}
	err := wrong
	if err == nil {
		e.engine, err = f.newEngine(key, kind, s)
	}
	if err != nil {
		err = fmt.Errorf("informer.For %s: %w", resourceName(key.gvr), err)
		e.errs = append(e.errs, err)
		e.engine, e.broken = engine.Broken(resourceName(key.gvr), err), true
	}
	if f.informers == nil {
		f.informers = map[informerKey]*entry{}
	}
	f.informers[key] = e
	f.order = append(f.order, e)
	return e, false
}

func (f *Factory) newEngine(key informerKey, kind identity, s *settings) (*engine.Informer, error) {
	if f.client == nil {
		return nil, errors.New("the factory has no client")
	}
	if err := checkKind(key.gvr, key.kind); err != nil {
		return nil, err
	}
	streams, err := s.sources(f.client, key.gvr)
	if err != nil {
		return nil, err
	}
	return s.newEngine(key.describe(key.gvr, key.kind, kind, s.scopedBy == "WithClusterScope"), streams...)
}

// adjust checks that opts agree with the options that the informer was made with, and adds their
// indexes, which may wait for the batch that is being applied.
func (e *entry) adjust(opts []Option) error {
	made, all := e.settings.comparable(), e.settings
	all.indexes = nil
	if err := all.applyAll(inFor, opts); err != nil {
		return err
	}
	var errs []error
	if all.comparable() != made {
		errs = append(errs, e.disagreeing(opts))
	}
	if err := e.engine.AddIndexes(all.indexes...); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// disagreeing names those of opts, each of which is right by itself, that differ from what the
// informer was made with.
func (e *entry) disagreeing(opts []Option) error {
	made := e.settings.comparable()
	var errs []error
	for _, opt := range opts {
		s := e.settings
		s.scopedBy = ""
		if err := opt.applyInformer(&s, inFor); err != nil || s.comparable() != made {
			errs = append(errs, fmt.Errorf("%v: the informer was made with another value; give it to the first For, or to none, or make another informer by WithName", opt))
		}
	}
	return errors.Join(errs...)
}

// resourceName returns the same as a source's String without restrictions: widgets.samples.io/v1.
func resourceName(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
