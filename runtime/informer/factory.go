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

// SharedInformerFactory is implemented by this package's [Factory] and by all generated factories.
type SharedInformerFactory interface {
	// Start starts the informers of the factory that it does not run yet; see [Factory.Start].
	Start(ctx context.Context) error
	// Shutdown stops the informers; see [Factory.Shutdown].
	Shutdown(ctx context.Context) error
	// WaitForCacheSync waits until the informers have synced; see [Factory.WaitForCacheSync].
	WaitForCacheSync(ctx context.Context, opts ...WaitOption) error
	// Base returns the Factory that holds the informers. It can stop and remove single ones.
	Base() *Factory
}

// Factory makes informers that share a client and defaults. They are started and stopped together,
// or one by one. A factory has one informer for each resource, Go type, set of namespaces,
// selectors, shard and name, however often [For] is called. Make a Factory with [NewFactory]. Its
// methods may be called by any goroutine at any time.
type Factory struct {
	// set once at construction
	client   *source.Client
	settings settings
	errs     []error // about the arguments of NewFactory

	// mu guards what follows; no goroutine waits for anything else while it holds mu
	mu        sync.Mutex
	informers map[informerKey]*entry
	order     []*entry // in the order in which For made them
	endings   []ending // leases that Stop and Remove have ended, until their goroutines have ended
	started   bool
	shutdown  bool
}

// NewFactory returns a factory whose informers read through client. opts are the defaults of its
// informers; those of [WithKind] are for one kind only. NewFactory starts nothing. Start returns
// errors about its arguments.
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
// struct. For *unstructured.Unstructured and *metav1.PartialObjectMetadata ([ForMetadata]) the
// resource may be any. Options override those of [WithKind], which override those of the factory.
// Calls that result in other namespaces, selectors, another shard or another name return another
// informer. The first call makes the informer. Later calls add the indexes of opts that it lacks.
// Their other options must agree with those of the first call; functions agree if their code is the
// same.
//
// For starts nothing, because only the caller of Start knows for how long the informer has to run.
// An informer that is made after Start waits for the next Start, or for Acquire. Until then its
// listers' Get returns [ErrNotSynced], and WaitForCacheSync names it.
//
// For never returns nil. Start returns errors about its arguments, and so do the methods of an
// informer that could not be made.
func For[T object.Object](f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...Option) *SharedIndexInformer[T] {
	return view[T](entryOf(f, gvr, typeOf((*T)(nil)), opts))
}

// ForMetadata returns the factory's informer of the metadata of a resource, of any kind. The server
// sends nothing else, so it costs a fraction of the memory and of the traffic. The kind of the
// objects is PartialObjectMetadata of meta.k8s.io/v1, as the server sends it.
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

// Start starts every informer of the factory that it does not run yet, and returns at once. They
// run until ctx is done or the factory stops them. Start may be called again, for informers that
// were made or stopped since, or after the ctx of an earlier call is done. An informer that is
// still waiting for its callbacks then runs again as soon as they have returned. Start starts
// nothing and returns an error if NewFactory or For was given wrong arguments, if ctx is nil or
// done (then it wraps context.Cause(ctx)), and after Shutdown (then it wraps [ErrShutdown]).
func (f *Factory) Start(ctx context.Context) error { return failed("Start", f.start(ctx)) }

// WaitForCacheSync waits until every informer that was started and not stopped has synced, and then
// returns nil. While it waits, it logs every 10 s for which informers it waits, and why. If it does
// not return nil, the error names the informers that have not synced, and why; it wraps the last
// error of each, and context.Cause(ctx) if ctx is done. [FailOn] ends the wait earlier.
// WaitForCacheSync does not wait for informers that end before they have synced; after Shutdown the
// error wraps [ErrShutdown] too.
//
// It returns an error at once before the first Start. It also does so if an informer was made after
// the last Start and is not run by Acquire or Run, because that would never sync: then the error
// wraps [ErrNotSynced] and names the informer.
func (f *Factory) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	return failed("WaitForCacheSync", f.waitForCacheSync(ctx, opts))
}

// Stop ends what Start has started for one informer. The informer ends, unless Acquire or Run keeps
// it running, and Stop waits until all its goroutines have ended, or until ctx is done; then the
// error is like that of Shutdown. The store of a stopped informer can still be read, and its
// handlers stay registered: the next Start runs it again, and they get the differences. Stop does
// nothing to an informer that was not started. It returns an error if the factory has no such
// informer.
func (f *Factory) Stop(ctx context.Context, informer Informer) error {
	return failed("Stop", f.stop(ctx, informer, false))
}

// Remove does what Stop does, and the factory forgets the informer at once, with the errors of the
// For that made it. The next For makes a new one. The informer's memory is freed once the program
// no longer refers to it.
func (f *Factory) Remove(ctx context.Context, informer Informer) error {
	return failed("Remove", f.stop(ctx, informer, true))
}

// Shutdown stops the informers that Start has started and waits until all their goroutines have
// ended, or until ctx is done. Then the error wraps context.Cause(ctx) and names each handler that
// has not returned, with the key of the object that it was called for. Informers that Acquire or
// Run keeps running go on. The factory cannot be started again. Shutdown may be called before
// Start, and more than once; each call waits.
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
	settings settings // with which it was made
	broken   bool     // engine is broken

	viewOnce sync.Once
	view     any // the one *SharedIndexInformer[T] over engine, whatever T is

	// the factory's mu guards what follows
	errs  []error                 // what Start returns
	begun bool                    // Start has run it once
	lease *engine.Lease           // of the last Start; nil before the first Start and after Stop
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

// view returns the typed informer over e, always the same one.
func view[T object.Object](e *entry) *SharedIndexInformer[T] {
	return e.first(&SharedIndexInformer[T]{e.engine}).(*SharedIndexInformer[T])
}

func (e *entry) first(view any) any {
	e.viewOnce.Do(func() { e.view = view })
	return e.view
}

// entryOf is For without its type parameter. For a nil factory it returns an entry whose engine
// returns errors only.
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
// indexes. It may wait for the batch that is being applied.
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

// disagreeing returns an error that names those of opts, each of which is right by itself, that
// differ from the options that the informer was made with.
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

// resourceName returns what String of a source without restrictions returns, for example
// widgets.samples.io/v1.
func resourceName(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
