// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// NewCache is [New] for managers: give it to ctrl.Options as NewCache.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	c, err := New(config, opts)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Until returns a NewCache for managers that end at once when they are cancelled early. A manager
// looks at its context only after its caches have synced. So WaitForCacheSync of these caches
// also returns true when ctx, the context for the manager's Start, is done.
func Until(ctx context.Context) cache.NewCacheFunc {
	return func(config *rest.Config, opts cache.Options) (cache.Cache, error) {
		c, err := New(config, opts)
		if err != nil {
			return nil, err
		}
		c.until = ctx
		return c, nil
	}
}

// IgnoreNewInformer returns newCache, which is [NewCache] or the result of [Until], for managers
// whose cache.Options have a NewInformer. The cache makes its own informers and never calls that
// function, so its additions are missing.
func IgnoreNewInformer(newCache cache.NewCacheFunc) cache.NewCacheFunc {
	return func(config *rest.Config, opts cache.Options) (cache.Cache, error) {
		opts.NewInformer = nil
		return newCache(config, opts)
	}
}

// Cache is a [cache.Cache] over informers of this project. New makes it. It is safe for use by
// several goroutines.
type Cache struct {
	// set once at construction
	client   *source.Client
	scheme   *runtime.Scheme
	mapper   meta.RESTMapper
	settings settings
	until    context.Context // ends every wait for a sync; nil if nothing does
	started  chan struct{}   // closed by Start
	ended    chan struct{}   // closed when the context of Start is done

	// kinds has the kinds in use. Readers load it; writers hold mu, and replace it.
	kinds atomic.Pointer[kinds]

	namespaceMu sync.Mutex // held by AddNamespace and RemoveNamespace, which take turns; before mu

	// mu guards the fields below, and writes to kinds.
	mu         sync.Mutex
	ctx        context.Context // of Start; nil before
	waiting    []func()        // for Start, which runs them; nil after
	running    sync.WaitGroup  // only its Go is guarded, which is not called after ended is closed
	namespaces []string        // of kinds that follow DefaultNamespaces
}

var _ cache.Cache = (*Cache)(nil)

// New makes a cache of the objects that opts select. It starts nothing. To find the namespaces of
// opts.ByObject, it asks opts.Mapper for their kinds.
//
// It returns an error if config is nil or unusable for a client, if opts.ByObject has an unknown
// kind, or namespaces for a kind without them, and if opts.NewInformer is set; see
// [IgnoreNewInformer].
func New(config *rest.Config, opts cache.Options) (*Cache, error) {
	c, err := newCache(config, opts)
	if err != nil {
		return nil, fmt.Errorf("controllerruntime.New: %w", err)
	}
	return c, nil
}

func newCache(config *rest.Config, opts cache.Options) (*Cache, error) {
	if config == nil {
		return nil, errors.New("the config is nil; ctrl.GetConfig returns one")
	}
	if opts.NewInformer != nil {
		return nil, errors.New("cache.Options.NewInformer is set, but this cache makes its own informers and would never call it; " +
			"unset it, or set NewCache to IgnoreNewInformer(NewCache)")
	}
	if err := setDefaults(config, &opts); err != nil {
		return nil, err
	}
	client, err := newClient(config, opts.HTTPClient)
	if err != nil {
		return nil, err
	}
	settings, err := newSettings(&opts)
	if err != nil {
		return nil, err
	}
	if config.ContentType == runtime.ContentTypeJSON {
		settings.formats = []source.Format{source.JSON}
	}
	c := &Cache{
		client:   client,
		scheme:   opts.Scheme,
		mapper:   opts.Mapper,
		settings: settings,
		started:  make(chan struct{}),
		ended:    make(chan struct{}),

		namespaces: slices.Sorted(maps.Keys(opts.DefaultNamespaces)),
	}
	c.setKindsLocked(map[kindKey]*kind{})
	return c, nil
}

// Start runs the requested informers, and from then on each new one at once. It blocks until ctx is
// done and all informers, and their running handlers, have ended. Then it returns nil. It returns
// an error if the cache was started before.
func (c *Cache) Start(ctx context.Context) error {
	if !c.begin(ctx) {
		return errors.New("informer already started: a cache runs only once; make another one")
	}
	<-ctx.Done()
	c.end()
	c.running.Wait()
	return nil
}

func (c *Cache) begin(ctx context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx != nil {
		return false
	}
	c.ctx = ctx
	for _, k := range c.kinds.Load().byKey {
		c.runLocked(k)
	}
	for _, f := range c.waiting {
		c.running.Go(f)
	}
	c.waiting = nil
	close(c.started)
	c.setKindsLocked(c.kinds.Load().byKey)
	return true
}

func (c *Cache) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.ended)
}

func (c *Cache) runLocked(k *kind) {
	if isClosed(c.ended) {
		k.stop()
		return
	}
	unlink := context.AfterFunc(c.ctx, k.stop)
	context.AfterFunc(k.ctx, func() { unlink() }) // otherwise c.ctx would keep removed kinds
	for _, p := range k.informerSet.all {
		c.running.Go(func() { p.shared.RunWithContext(k.ctx) })
	}
	if g, ok := k.informer.(*group); ok {
		c.running.Go(g.follow)
	}
}

// spawn runs f in a goroutine that Start waits for: at the start of the cache, or at once if it has
// started; not after its end.
func (c *Cache) spawn(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx == nil:
		c.waiting = append(c.waiting, f)
	case !isClosed(c.ended):
		c.running.Go(f)
	}
}

// NeedLeaderElection returns false: caches run in every replica.
func (c *Cache) NeedLeaderElection() bool { return false }

// GetInformer returns the informer of obj's kind, and of its view: typed, unstructured or metadata
// only. If there is none, it makes one, and starts it if the cache has started. Once the cache has
// started, it waits until the informer has synced; cache.BlockUntilSynced(false) prevents that.
//
// It returns an error if the kind is not known to the scheme or the mapper, and a Timeout error
// with the reason if ctx is done or the informer is removed first.
func (c *Cache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.informerOf(ctx, kindKey{gvk, viewOf(obj)}, opts)
}

// GetInformerForKind is GetInformer of the typed view of a kind known to the scheme.
func (c *Cache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	return c.informerOf(ctx, kindKey{gvk, typed}, opts)
}

func (c *Cache) informerOf(ctx context.Context, key kindKey, opts []cache.InformerGetOption) (cache.Informer, error) {
	var options cache.InformerGetOptions
	for _, opt := range opts {
		opt(&options)
	}
	k, err := c.kindFor(key)
	if err != nil {
		return nil, err
	}
	if isClosed(c.started) && (options.BlockUntilSynced == nil || *options.BlockUntilSynced) {
		for _, p := range k.informerSet.all {
			if p.informer.HasSynced() {
				continue
			}
			if err := p.wait(ctx, k); err != nil {
				return nil, k.notSynced(err)
			}
		}
	}
	return k.informer, nil
}

// RemoveInformer ends the informer of obj's kind and view, and forgets its objects, indexes and
// handlers. It does not wait for the end. A later read makes a new informer. It returns an error if
// the kind is unknown, and nil if there is no such informer.
func (c *Cache) RemoveInformer(_ context.Context, obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return err
	}
	c.remove(kindKey{gvk, viewOf(obj)})
	return nil
}
