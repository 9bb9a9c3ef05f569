// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Informer keeps a table up to date with its streams, and delivers the changes to subscriptions.
type Informer struct {
	// Set once at construction, but for Transform and OnError of config, and adoption: they are set
	// until the first run begins.
	config  Config
	broken  error // if not nil, every method that can return an error returns it
	table   *table.Table
	connect func(*stream) error // gives a stream its reader

	// synced is closed when a full state of every stream is published, but for those that are late.
	synced chan struct{}

	// Points in time are durations since epoch, because time.Since costs half of time.Now.
	epoch time.Time

	totals   *totals // nil without metrics
	pool     *pool   // serves one run after the other
	gap      *gap    // what readers of the table must know that it lacks
	adoption sharer

	// writing guards what follows, and the one open transaction. Lock order: writing before mu
	// before Subscription.mu.
	writing sync.Mutex
	indexes []*guarded
	panics  []indexPanic // of the batch that is being applied
	divided bool         // the table has a resourceVersion for each namespace

	// functions is true once applying calls functions of the user: those of indexes, or the
	// mutation detector's. It never becomes false again.
	functions atomic.Bool

	// all has the streams; none if broken. It is replaced under both writing and mu, and read
	// without a lock.
	all atomic.Pointer[[]*stream]

	// mu guards what follows. Lock order: see writing.
	mu   sync.Mutex
	log  changelog.Log
	subs []*Subscription
	run  *run // the newest one; nil once it has ended
	ran  bool // a run has begun

	// leaving has the streams that were removed and whose goroutines have not ended, and past the
	// totals of those whose goroutines have.
	leaving []*stream
	past    pastTotals
	// deletions has, for each key, those that wait for the end of an object of this key.
	deletions map[object.Key][]*waiter

	// changed is closed by the next publication; nil if Changed was not called since the last one.
	changed chan struct{}

	// observers are channels of capacity 1. Each gets a token when a stream's state changes, or
	// when the informer syncs.
	observers map[chan struct{}]struct{}
}

// New returns an informer that does not run.
func New(config Config) (*Informer, error) {
	i, err := newInformer(config)
	if err != nil {
		return nil, err
	}
	i.connect = (*stream).connect
	for _, s := range i.streams() {
		if err := i.connect(s); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// Broken returns an informer whose methods return err wherever they can return an error.
func Broken(name string, err error) *Informer {
	t, tableErr := table.New()
	if tableErr != nil {
		err = errors.Join(err, tableErr)
	}
	i := &Informer{config: Config{Name: name}, broken: err, table: t, synced: make(chan struct{}), epoch: time.Now(), gap: &gap{}, adoption: &adoption{}}
	i.setUnsynced()
	return i
}

// newInformer returns an informer whose streams have no readers, and that can't connect them.
func newInformer(config Config) (*Informer, error) {
	t, err := table.New()
	if err != nil {
		return nil, err
	}
	i := &Informer{config: config, table: t, synced: make(chan struct{}), log: changelog.New(), epoch: time.Now(), gap: &gap{}, adoption: newAdoption(&config)}
	i.pool = &pool{informer: i}
	if config.Metrics != nil {
		i.totals = &totals{}
	}
	i.functions.Store(config.Mutations != nil)
	if !config.EmptyBeforeSync {
		i.setUnsynced()
	}
	if len(config.Streams) == 0 {
		return nil, errors.New("there is nothing to read: Config.Streams is empty")
	}
	for _, s := range config.Streams {
		if len(config.Streams) > 1 && s.Namespace == "" {
			return nil, errors.New("one of several streams has no namespace")
		}
		if i.streamOf(s.Namespace) != nil {
			return nil, fmt.Errorf("two streams have the namespace %q", s.Namespace)
		}
		i.setStreams(append(i.streams(), newStream(i, s)))
	}
	if len(i.streams()) > 1 {
		txn := t.Begin()
		i.divide(txn)
		txn.Publish()
	}
	return i, i.AddIndexes(config.Indexes...)
}

// streams returns the streams. The slice must not be changed.
func (i *Informer) streams() []*stream {
	if all := i.all.Load(); all != nil {
		return *all
	}
	return nil
}

func (i *Informer) setStreams(all []*stream) { i.all.Store(&all) }

// setUnsynced makes the table report to its readers that it is not complete.
func (i *Informer) setUnsynced() {
	i.gap.informer.Store(i)
	i.table.SetUnsynced(i.gap)
}

// Name returns the name of the informer.
func (i *Informer) Name() string { return i.config.Name }

// Resourced is a Source that knows which resource it reads.
type Resourced interface {
	Resource() schema.GroupVersionResource
}

// Resource returns the resource that the informer reads, if its Source knows.
func (i *Informer) Resource() (resource schema.GroupVersionResource) {
	if len(i.config.Streams) > 0 {
		if src, ok := i.config.Streams[0].Source.(Resourced); ok {
			resource = src.Resource()
		}
	}
	return resource
}

// SetTransform sets Config.Transform and TransformCode. It returns an error once a run has begun,
// since the table may have objects by then. It isn't inlined, to save compile time: newAdoption
// would lead to all methods of share's types.
//
//go:noinline
func (i *Informer) SetTransform(transform func(object.Object) (object.Object, error), code uintptr) error {
	return i.configure("SetTransform", func() {
		i.config.Transform, i.config.TransformCode = transform, code
		i.adoption = newAdoption(&i.config)
	})
}

// SetOnError sets Config.OnError. It returns an error once a run has begun. It isn't inlined, to
// save compile time.
//
//go:noinline
func (i *Informer) SetOnError(handle func(informer string, err error)) error {
	return i.configure("SetErrorHandler", func() { i.config.OnError = handle })
}

// configure calls set, unless a run has begun. The goroutines of runs read what it sets without a
// lock.
func (i *Informer) configure(call string, set func()) error {
	if i.broken != nil {
		return i.broken
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ran {
		return fmt.Errorf("informer %s: %s: the informer has begun to run; call %s before its first Run, Acquire or Start", i.config.Name, call, call)
	}
	set()
	return nil
}

// Table returns the table that the informer keeps up to date.
func (i *Informer) Table() *table.Table { return i.table }

// HandlerDefaults returns the config that a caller of AddHandler should start from.
func (i *Informer) HandlerDefaults() HandlerConfig { return i.config.Handlers }

// Synced returns a channel that is closed when a full state of every stream is published, but for
// those of namespaces that were added after the first run had begun.
func (i *Informer) Synced() <-chan struct{} { return i.synced }

// HasSynced reports whether Synced is closed.
func (i *Informer) HasSynced() bool { return closed(i.synced) }

// Changed returns a channel that is closed by the next publication. It is for readers of the table:
// ask for the channel first, then look.
func (i *Informer) Changed() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.changed == nil {
		i.changed = make(chan struct{})
	}
	return i.changed
}

// AddHandler registers a handler. It takes Informer.mu and waits for nothing else.
func (i *Informer) AddHandler(h Handler, config HandlerConfig) (*Subscription, error) {
	if i.broken != nil {
		return nil, i.broken
	}
	s := newSubscription(i, h, config)
	i.mu.Lock()
	defer i.mu.Unlock()
	if version := i.table.Version(); version.Len() > 0 {
		s.replays = []replay{{version: version, at: i.now()}}
	}
	i.subs = append(i.subs, s)
	if i.run != nil && i.run.open {
		i.pool.join(s)
	}
	return s, nil
}

func (i *Informer) forget(s *Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if at := slices.Index(i.subs, s); at >= 0 {
		i.subs = slices.Delete(i.subs, at, at+1)
	}
}

// streamOf returns the stream that reads the objects of a namespace, nil if none does.
func (i *Informer) streamOf(namespace string) *stream {
	for _, s := range i.streams() {
		if s.namespace == "" || s.namespace == namespace {
			return s
		}
	}
	return nil
}

// now returns the time since epoch.
func (i *Informer) now() time.Duration { return time.Since(i.epoch) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
