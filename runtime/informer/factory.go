// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// SharedInformerFactory is what this package's Factory and all generated factories implement.
type SharedInformerFactory interface {
	// Start runs the informers that the factory has and that are not running; see Factory.Start.
	Start(ctx context.Context) error
	// Shutdown ends them; see Factory.Shutdown.
	Shutdown(ctx context.Context) error
	// WaitForCacheSync waits until they have synced; see Factory.WaitForCacheSync.
	WaitForCacheSync(ctx context.Context) error
	// Base returns the Factory that holds the informers.
	Base() *Factory
}

// Factory makes informers that share a client and defaults and are started and stopped together: one for each resource
// and Go type, however often For asks for it. Its methods may be called by any goroutine at any time.
type Factory struct {
	// set once at construction
	client   *source.Client
	settings settings

	mu        sync.Mutex // mu guards what follows; it is never held while something is waited for
	informers map[informerKey]*entry
	order     []*entry // in the order in which For made them
	errs      []error  // what Start returns
	started   bool
	shutdown  bool
}

// NewFactory returns a factory whose informers read through client and have opts as their defaults. It starts nothing.
// Errors about the arguments are returned by Start.
func NewFactory(client *source.Client, opts ...Option) *Factory {
	f := &Factory{client: client, settings: defaults(), informers: map[informerKey]*entry{}}
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

// For returns the factory's informer of a resource whose objects have the type T, a pointer to a struct. The first call
// makes the informer. Later calls add the indexes of opts that it lacks, and their other options must agree with those
// that it was made with. For starts nothing: an informer that is made after Start waits for the next Start.
//
// For never returns nil. Errors about its arguments are returned by Start, and also by the methods of an informer that
// could not be made.
func For[T object.Object](f SharedInformerFactory, gvr schema.GroupVersionResource, opts ...Option) *SharedIndexInformer[T] {
	var base *Factory
	if f != nil {
		base = f.Base()
	}
	if base == nil {
		return &SharedIndexInformer[T]{noFactory(gvr)}
	}
	e := base.lookup(informerKey{gvr, reflect.TypeFor[T]()}, opts)
	return e.typed(func() any { return &SharedIndexInformer[T]{e.engine} }).(*SharedIndexInformer[T])
}

// Start runs every informer of the factory that is not running, each until ctx is done or the factory is shut down, and
// returns at once. It may be called again, for informers that were made since, or after the ctx of an earlier call is
// done: an informer that still waits for its callbacks then runs again as soon as they have returned. It starts nothing
// and returns an error if NewFactory or For was given wrong arguments, if ctx is nil or done (wrapping
// context.Cause(ctx)), and after Shutdown (wrapping ErrShutdown).
func (f *Factory) Start(ctx context.Context) error {
	if err := f.start(ctx); err != nil {
		return fmt.Errorf("informer factory: Start: %w", err)
	}
	return nil
}

// WaitForCacheSync waits until every informer that was started has synced, and returns nil then. While it waits, it logs
// every 10 s which ones it waits for, and why. The error names those that have not synced, and why; it wraps the last
// error of each, and context.Cause(ctx) if ctx was done. Informers that end before they have synced are no longer waited
// for; after Shutdown the error wraps ErrShutdown too. Before the first Start, it returns an error at once.
func (f *Factory) WaitForCacheSync(ctx context.Context) error {
	if err := f.waitForCacheSync(ctx); err != nil {
		return fmt.Errorf("informer factory: WaitForCacheSync: %w", err)
	}
	return nil
}

// Shutdown stops the informers that Start has started and waits until all their goroutines have ended, or until ctx is
// done; then the error wraps context.Cause(ctx) and names each handler that has not returned, with the key of the object
// that it was called for. The factory cannot be started again. Calling Shutdown before Start, or more than once, is fine;
// each call waits.
func (f *Factory) Shutdown(ctx context.Context) error {
	if err := f.end(ctx); err != nil {
		return fmt.Errorf("informer factory: Shutdown: %w", err)
	}
	return nil
}

// --- private from here ---

type informerKey struct {
	gvr  schema.GroupVersionResource
	kind reflect.Type
}

// entry is one informer of a factory.
type entry struct {
	// set once at construction
	engine   *engine.Informer
	settings settings // as it was made
	broken   bool     // engine is broken, and errs has its error

	viewOnce sync.Once
	view     any // the one *SharedIndexInformer[T] over engine

	// the factory's mu guards what follows
	run *entryRun // the last one; nil before the first Start
}

// entryRun is one Run of an informer.
type entryRun struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when Run has returned
}

// ending says whether Run has been told to return and has not done so yet.
func (r *entryRun) ending() bool {
	if r == nil || r.ctx.Err() == nil {
		return false
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

func (e *entry) typed(view func() any) any {
	e.viewOnce.Do(func() { e.view = view() })
	return e.view
}

// lookup finds or makes the entry of key.
func (f *Factory) lookup(key informerKey, opts []Option) *entry {
	e, adjustable := f.findOrMake(key, opts)
	if !adjustable {
		return e
	}
	if err := e.adjust(opts); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.errs = append(f.errs, fmt.Errorf("informer.For %s: %w", resourceName(key.gvr), err))
	}
	return e
}

func (f *Factory) findOrMake(key informerKey, opts []Option) (e *entry, adjustable bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.informers[key]; e != nil {
		return e, !e.broken
	}
	e, err := f.newEntry(key, opts)
	if err != nil {
		err = fmt.Errorf("informer.For %s: %w", resourceName(key.gvr), err)
		f.errs = append(f.errs, err)
		e.engine, e.broken = engine.Broken(resourceName(key.gvr), err), true
	}
	f.informers[key] = e
	f.order = append(f.order, e)
	return e, false
}

// newEntry always returns an entry; if there is an error, the entry has no engine.
func (f *Factory) newEntry(key informerKey, opts []Option) (*entry, error) {
	e := &entry{settings: f.settings}
	s := &e.settings
	s.objectType = key.kind
	s.Name = resourceName(key.gvr)
	if err := s.applyAll(inFor, opts); err != nil {
		return e, err
	}
	switch {
	case f.client == nil:
		return e, errors.New("the factory has no client")
	case key.gvr.Resource == "" || key.gvr.Version == "":
		return e, fmt.Errorf("%q lacks a resource or a version", key.gvr)
	case key.kind.Kind() != reflect.Pointer || key.kind.Elem().Kind() != reflect.Struct:
		return e, fmt.Errorf("objects of type %v can not be made; want a pointer to a struct", key.kind)
	}
	elem := key.kind.Elem()
	src, err := source.NewFunc(f.client, key.gvr,
		func() object.Object { return reflect.New(elem).Interface().(object.Object) },
		source.Options{Namespace: s.Namespace, LabelSelector: s.LabelSelector, FieldSelector: s.FieldSelector})
	if err != nil {
		return e, err
	}
	e.engine, err = engine.New(s.engineConfig(src))
	return e, err
}

// adjust checks that opts agree with the options that the informer was made with, and adds their indexes, which may wait
// for the batch that is being applied.
func (e *entry) adjust(opts []Option) error {
	var errs []error
	s := e.settings
	s.indexes = nil
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		s.tuning = e.settings.tuning
		if err := opt.applyInformer(&s, inFor); err != nil {
			errs = append(errs, err)
		} else if s.tuning != e.settings.tuning {
			errs = append(errs, fmt.Errorf("%v: the informer was made with another value; give it to the first For, or to none", opt))
		}
	}
	if err := e.engine.AddIndexes(s.indexes...); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f *Factory) start(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.errs) > 0:
		return errors.Join(f.errs...)
	case f.shutdown:
		return ErrShutdown
	case ctx.Err() != nil:
		return fmt.Errorf("the context is done: %w", context.Cause(ctx))
	}
	f.started = true
	for _, e := range f.order {
		last := e.run
		ending := last.ending() // read before Begin, since it may end at any time
		work, err := e.engine.Begin()
		switch {
		case errors.Is(err, ErrRunning) && !ending:
			continue // by this factory, or by a Run of the user's own
		case err != nil && !errors.Is(err, ErrRunning):
			return err
		}
		ctx, cancel := context.WithCancelCause(ctx)
		next := &entryRun{ctx, cancel, make(chan struct{})}
		e.run = next
		go func() { // Shutdown waits for it
			defer close(next.done)
			defer cancel(nil)
			if last != nil {
				<-last.done // Shutdown waits for the last one only
			}
			if work == nil { // the last run had not returned
				if work, err = e.engine.Begin(); err != nil {
					return // a Run of the user's own was first
				}
			}
			_ = work(ctx) // the error is ctx's cause, or in Status
		}()
	}
	return nil
}

func (f *Factory) waitForCacheSync(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	f.mu.Lock()
	started := f.started
	var waits []engine.Wait
	for _, e := range f.order {
		if e.run != nil {
			waits = append(waits, engine.Wait{Informer: e.engine, Ended: e.run.done})
		}
	}
	f.mu.Unlock()
	if !started {
		return errors.New("the factory was not started")
	}
	err := engine.WaitForCacheSync(ctx, waits...)
	if err != nil && f.wasShutDown() {
		err = fmt.Errorf("%w: %w", ErrShutdown, err)
	}
	return err
}

func (f *Factory) wasShutDown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shutdown
}

func (f *Factory) end(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil")
	}
	f.mu.Lock()
	f.shutdown = true
	entries := slices.DeleteFunc(slices.Clone(f.order), func(e *entry) bool { return e.run == nil })
	runs := make([]*entryRun, len(entries))
	for i, e := range entries {
		runs[i] = e.run
	}
	f.mu.Unlock()
	for _, r := range runs {
		r.cancel(ErrShutdown)
	}
	for i, r := range runs {
		select {
		case <-r.done:
			continue
		default:
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), stillRunning(entries[i:], runs[i:]))
		}
	}
	return nil
}

// stillRunning says what keeps informers from ending.
func stillRunning(entries []*entry, runs []*entryRun) string {
	var lines []string
	for i, e := range entries {
		select {
		case <-runs[i].done:
			continue
		default:
		}
		lines = append(lines, e.engine.Running()...)
	}
	return strings.Join(lines, "; ")
}

func noFactory(gvr schema.GroupVersionResource) *engine.Informer {
	name := resourceName(gvr)
	return engine.Broken(name, fmt.Errorf("informer.For %s: the factory is nil", name))
}

// resourceName returns the same as a source's String without restrictions: widgets.samples.io/v1.
func resourceName(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
