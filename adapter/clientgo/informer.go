// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/adapter/internal/checker"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// New returns i, which must not be nil, as client-go's shared informer. i has to be run by the
// result's Run or RunWithContext, and only once. The options of i hold. For reads and panics as in
// client-go, make i with informer.WithEmptyBeforeSync and informer.WithPanicOnHandlerCrash.
func New[T object.Object](i *informer.SharedIndexInformer[T]) cache.SharedIndexInformer {
	return wrap((*informer.SharedIndexInformer[object.Object])(i), reflect.TypeFor[T]().String())
}

// description names the type of the objects.
func wrap(i *informer.SharedIndexInformer[object.Object], description string) *sharedInformer {
	name := "SharedIndexInformer " + description
	return &sharedInformer{
		Checker:     checker.New(name),
		name:        name,
		description: description,
		informer:    i,
		indexer:     newIndexer(name, i),
		handlers:    map[*registration]struct{}{},
	}
}

type sharedInformer struct {
	// set once at construction
	checker.Checker
	name, description string
	informer          *informer.SharedIndexInformer[object.Object]
	indexer           *indexer
	handleCrashes     bool // panics of handlers are for utilruntime.HandleCrash

	// goroutines are the run's. They are started only with mu held and before the end of the run.
	goroutines sync.WaitGroup

	// mu guards the fields below.
	mu       sync.Mutex
	run      context.Context            // of the run; nil before it
	handlers map[*registration]struct{} // none once the run has ended
}

func (s *sharedInformer) stoppedLocked() bool { return s.run != nil && s.run.Err() != nil }

func (s *sharedInformer) Run(stop <-chan struct{}) { s.RunWithContext(wait.ContextForChannel(stop)) }

// RunWithContext runs the informer until ctx is done, and returns after all its goroutines and
// running callbacks have ended. A second call logs a line and returns.
func (s *sharedInformer) RunWithContext(ctx context.Context) {
	logger := klog.FromContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	if !s.begin(ctx) {
		cancel()
		logger.Info("The informer has been started before; it runs only once", "informer", s.name)
		return
	}
	if err := s.informer.Run(ctx); ctx.Err() == nil {
		logger.Error(err, "The informer has ended", "informer", s.name)
	}
	cancel()
	s.end()
}

// begin starts the goroutines that wait for the sync of the informer and of its handlers. It
// returns false if there was a run already.
func (s *sharedInformer) begin(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		return false
	}
	s.run = ctx
	s.followLocked(s.informer.Synced(), s.Checker, nil)
	for r := range s.handlers {
		s.followLocked(r.handler.Synced(), r.Checker, r.ended)
	}
	return true
}

// end is called after the informer's own goroutines have ended.
func (s *sharedInformer) end() {
	s.mu.Lock()
	for r := range s.handlers {
		r.end()
	}
	clear(s.handlers)
	s.mu.Unlock()
	s.goroutines.Wait()
}

// followLocked marks c as synced when synced is closed, unless ended is closed or the run ends
// before.
func (s *sharedInformer) followLocked(synced <-chan struct{}, c checker.Checker, ended <-chan struct{}) {
	stop := s.run.Done()
	s.goroutines.Go(func() {
		select {
		case <-synced:
		case <-ended:
		case <-stop:
		}
		select {
		case <-synced: // also if something else has ended the wait
			checker.Done(c)
		default:
		}
	})
}

func (s *sharedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler. Periods under a second are raised to a second; 0
// means no resync.
func (s *sharedInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions adds a handler, which first gets the objects of the store. It returns
// an error if h is nil or the informer has stopped.
func (s *sharedInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if h == nil {
		return nil, fmt.Errorf("%s: add an event handler: the handler is nil", s.name)
	}
	name := nameOf(h)
	opts := []informer.HandlerOption{informer.WithHandlerName(name), informer.WithEveryDeletion()}
	if options.ResyncPeriod != nil {
		opts = append(opts, informer.WithResyncPeriod(max(*options.ResyncPeriod, 0)))
	}
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
		opts = append(opts, informer.WithHandlerLogger(logger))
	}
	r := &registration{Checker: checker.New(s.name + " + event handler " + name), informer: s, ended: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stoppedLocked() {
		return nil, fmt.Errorf("%s: handler %s was not added to shared informer because it has stopped already", s.name, name)
	}
	var to informer.Handler[object.Object] = handler{h}
	if s.handleCrashes {
		to = crashHandler{handler{h}, s, logger}
	}
	var err error
	if r.handler, err = s.informer.AddEventHandler(to, opts...); err != nil {
		return nil, err
	}
	s.handlers[r] = struct{}{}
	if s.run != nil {
		s.followLocked(r.handler.Synced(), r.Checker, r.ended)
	}
	return r, nil
}

// RemoveEventHandler removes a handler: no callback of it begins after RemoveEventHandler has
// returned. It does not wait for a running one, so a handler may call it. Handlers already removed,
// and those of other informers, are ignored. Any argument other than a registration is an error.
func (s *sharedInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok || r == nil {
		return fmt.Errorf("%s: remove an event handler: a %T was not returned by AddEventHandler", s.name, handle)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.handlers[r]; !ok {
		return nil
	}
	// With a done context, it does not wait; the error names the running callback.
	_ = r.handler.RemoveContext(done)
	delete(s.handlers, r)
	if s.run == nil {
		r.end() // no callback can be running
		return nil
	}
	s.goroutines.Go(func() {
		r.handler.Remove() // waits for the running callback
		r.end()
	})
	return nil
}

var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// SetTransform returns an error once the informer was started. The function must return an object
// of the same type, key, UID and resourceVersion; nil is none.
func (s *sharedInformer) SetTransform(transform cache.TransformFunc) error {
	if transform == nil {
		return s.informer.SetTransform(nil)
	}
	return s.informer.SetTransform(func(obj object.Object) (object.Object, error) {
		result, err := transform(obj)
		if err != nil {
			return nil, err
		}
		transformed, ok := result.(object.Object)
		if !ok && result != nil {
			return nil, fmt.Errorf("the transform returned a %T, which is no API object; it must return a %T", result, obj)
		}
		return transformed, nil
	})
}

func (s *sharedInformer) SetWatchErrorHandler(handle cache.WatchErrorHandler) error {
	if handle == nil {
		return s.SetWatchErrorHandlerWithContext(nil)
	}
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handle(r, err) })
}

// SetWatchErrorHandlerWithContext returns an error once the informer was started. The function's
// reflector has a name and a description of the type, and does nothing; nil is no function.
func (s *sharedInformer) SetWatchErrorHandlerWithContext(handle cache.WatchErrorHandlerWithContext) error {
	if handle == nil {
		return s.informer.SetErrorHandler(nil)
	}
	idle := cache.NewReflectorWithOptions(&cache.ListWatch{}, nil, cache.NewStore(cache.MetaNamespaceKeyFunc),
		cache.ReflectorOptions{Name: s.name, TypeDescription: s.description})
	return s.informer.SetErrorHandler(func(_ string, err error) { handle(s.context(), idle, err) })
}

// context is for callbacks: the run has begun.
func (s *sharedInformer) context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// AddIndexers returns an error if the informer has stopped, or has an indexer of one of the names.
func (s *sharedInformer) AddIndexers(indexers cache.Indexers) error {
	if s.IsStopped() {
		return fmt.Errorf("%s: indexer was not added because it has stopped already", s.name)
	}
	return s.indexer.AddIndexers(indexers)
}

// HasSynced reports whether the first list is in the store. The checker follows a moment later.
func (s *sharedInformer) HasSynced() bool { return s.informer.HasSynced() }

func (s *sharedInformer) GetStore() cache.Store { return s.indexer }

func (s *sharedInformer) GetIndexer() cache.Indexer { return s.indexer }

// IsStopped reports whether the context of the run is done.
func (s *sharedInformer) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stoppedLocked()
}

func (s *sharedInformer) LastSyncResourceVersion() string {
	return s.informer.Store().Snapshot().ResourceVersion()
}

// GetController returns a cache.Controller that reports the informer's state, and runs nothing.
func (s *sharedInformer) GetController() cache.Controller { return controller{s.Checker, s} }

type controller struct {
	checker.Checker
	informer *sharedInformer
}

func (controller) Run(<-chan struct{})               {}
func (controller) RunWithContext(context.Context)    {}
func (c controller) HasSynced() bool                 { return c.informer.HasSynced() }
func (c controller) LastSyncResourceVersion() string { return c.informer.LastSyncResourceVersion() }
