// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Informer is informer.SharedIndexInformer without its type parameter.
type Informer struct {
	// set once at construction
	config  Config
	initErr error // if not nil, returned by every method that can return an error
	table   *table.Table
	intake  *intake.Intake // nil if broken
	fanout  *fanout.Fanout // nil if broken

	// synced is closed when every stream has published a full state, except those added later.
	synced chan struct{}

	syncGuard *syncGuard // tells readers of the table that it is incomplete

	// mu guards the rest, and orders publications.
	mu       sync.Mutex
	run      *run // the newest one; nil once it has ended
	ran      bool // a run has begun
	selected bool // the streams are those of Config.Namespaces or Ring, as first listed or later
	ring     ringState
	waiters  waiters

	// changed is closed by the next publication; nil until Changed is called.
	changed chan struct{}

	// observers are channels of capacity 1. Each gets a token when a stream's state changes, or the
	// informer syncs.
	observers map[chan struct{}]struct{}
}

// New returns an informer that does not run.
func New(config Config) (*Informer, error) {
	i, err := newInformer(config)
	if err != nil {
		return nil, err
	}
	epoch := time.Now()
	i.fanout = fanout.New(fanout.Config{
		Name:      config.Name,
		Epoch:     epoch,
		Synced:    i.synced,
		Mutations: config.Mutations,
		Version:   i.table.Version(),
	})
	streams, sourceIn, ring := config.Streams, config.SourceIn, (*partition.Partition)(nil)
	if config.Ring != nil {
		streams, sourceIn, ring = nil, config.sourceIn, &config.Ring.Partition
	}
	i.intake, err = intake.New(intake.Config{
		Name:          config.Name,
		Streams:       streams,
		SourceIn:      sourceIn,
		Selected:      config.selects(),
		Partition:     ring,
		Tuning:        config.Tuning,
		Optional:      config.Optional,
		OnError:       config.OnError,
		Transform:     config.Transform,
		TransformCode: config.TransformCode,
		FileOf:        config.FileOf,
		Unshared:      config.Unshared,
		Mutations:     config.Mutations,
		Publish:       i.publish,
		StateChanged:  i.notify,
		Connect:       config.connect,
	}, i.table, epoch)
	if err != nil {
		return nil, err
	}
	return i, i.AddIndexes(config.Indexes...)
}

// Broken returns an informer whose methods return err wherever they can.
func Broken(name string, err error) *Informer {
	i, tableErr := newInformer(Config{Name: name})
	if tableErr != nil {
		err = errors.Join(err, tableErr)
	}
	i.initErr = err
	return i
}

func newInformer(config Config) (*Informer, error) {
	t, err := table.New()
	i := &Informer{config: config, table: t, synced: make(chan struct{}), syncGuard: &syncGuard{}}
	if err == nil && !config.EmptyBeforeSync {
		i.syncGuard.informer.Store(i)
		t.SetSyncState(i.syncGuard)
	}
	return i, err
}

func (i *Informer) streams() []*intake.Stream {
	if i.initErr != nil {
		return nil
	}
	return i.intake.Streams()
}

// Name returns the name of the informer.
func (i *Informer) Name() string { return i.config.Name }

// Metrics returns the provider of the informer's metrics, or nil.
func (i *Informer) Metrics() metrics.Provider { return i.config.Metrics }

// ResourceSource is a Source with a known resource.
type ResourceSource interface {
	Resource() schema.GroupVersionResource
}

// Resource returns Config.Resource.
func (i *Informer) Resource() schema.GroupVersionResource { return i.config.Resource }

// Namespaces returns Config.Namespaces.
func (i *Informer) Namespaces() *Informer { return i.config.Namespaces }

// SetTransform sets Config.Transform and TransformCode, before the first run. It isn't inlined, to
// save compile time: it would lead to all methods of share's types.
//
//go:noinline
func (i *Informer) SetTransform(transform func(object.Object) (object.Object, error), code uintptr) error {
	return i.configure("SetTransform", func() { i.intake.SetTransform(transform, code) })
}

// SetOnError sets Config.OnError, before the first run. It isn't inlined, to save compile time.
//
//go:noinline
func (i *Informer) SetOnError(handle func(informer string, err error)) error {
	return i.configure("SetErrorHandler", func() { i.intake.SetOnError(handle) })
}

// configure calls set, or returns an error once a run has begun: runs read the settings without a
// lock.
func (i *Informer) configure(call string, set func()) error {
	if i.initErr != nil {
		return i.initErr
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ran {
		return fmt.Errorf("informer %s: %s: the informer has begun to run; call %s before its first Run, Acquire or Start", i.config.Name, call, call)
	}
	set()
	return nil
}

// Table returns the informer's table.
func (i *Informer) Table() *table.Table { return i.table }

// HandlerDefaults returns the config to start from for AddHandler.
func (i *Informer) HandlerDefaults() fanout.HandlerConfig { return i.config.Handlers }

// AddHandler registers a handler. It waits for nothing.
func (i *Informer) AddHandler(h fanout.Handler, config fanout.HandlerConfig) (*fanout.Subscription, error) {
	if i.initErr != nil {
		return nil, i.initErr
	}
	return i.fanout.Add(h, config), nil
}

// AddIndexes adds all of the indexes, or returns an error and adds none.
func (i *Informer) AddIndexes(indexes ...intake.Indexer) error {
	if i.initErr != nil {
		return i.initErr
	}
	return i.intake.AddIndexes(indexes...)
}

// AddNamespace implements informer.SharedIndexInformer.AddNamespace.
//
// Synced does not wait for a stream added after the first run has begun, whose first full state is
// logged.
func (i *Informer) AddNamespace(namespace string) error {
	if i.initErr != nil {
		return i.initErr
	}
	if err := i.intake.AddNamespace(namespace); err != nil {
		return fmt.Errorf("informer %s: AddNamespace: %w", i.config.Name, err)
	}
	return nil
}

// RemoveNamespace implements informer.SharedIndexInformer.RemoveNamespace.
func (i *Informer) RemoveNamespace(ctx context.Context, namespace string) error {
	if i.initErr != nil {
		return i.initErr
	}
	err := errors.New("the context is nil")
	if ctx != nil {
		err = i.intake.RemoveNamespace(ctx, i.logger(ctx), namespace)
	}
	if err != nil {
		return fmt.Errorf("informer %s: RemoveNamespace: %w", i.config.Name, err)
	}
	return nil
}

func (i *Informer) logger(ctx context.Context) klog.Logger {
	if i.config.Logger != nil {
		return *i.config.Logger
	}
	return klog.FromContext(ctx)
}

// Synced returns a channel that is closed when every stream has published a full state, except
// those added after the first run had begun.
func (i *Informer) Synced() <-chan struct{} { return i.synced }

// HasSynced reports whether Synced is closed.
func (i *Informer) HasSynced() bool { return outcome.Closed(i.synced) }

// Changed returns a channel that is closed by the next publication. Readers of the table get the
// channel first, then look.
func (i *Informer) Changed() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.changed == nil {
		i.changed = make(chan struct{})
	}
	return i.changed
}
