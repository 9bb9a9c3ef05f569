// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// ErrRunning is returned by Run and Begin while the informer is running.
var ErrRunning = errors.New("the informer is running already")

// Never is the threshold that is never passed.
const Never = -1

// Config is what an Informer is made of.
type Config struct {
	Name             string
	Source           source.Source[object.Object]
	Indexes          []Indexer
	PageSize         int64
	DisableWatchList bool
	Handlers         HandlerConfig // defaults for AddHandler
	Logger           *klog.Logger  // nil: that of Run's context
}

// HandlerConfig is how one handler is treated.
type HandlerConfig struct {
	Name      string
	Resync    time.Duration // 0: never
	Threshold int           // of events that wait before they are merged, or Never
	Crash     bool          // let panics end the process
}

// Indexer makes a table.Index for one table. store.Indexer is one.
type Indexer interface{ Bind() table.Index }

// reader reads the source into the sink. Outside of tests it is a Reflector.
type reader interface {
	Run(ctx context.Context) error
	Status() reflector.Status
}

// Handler is what a subscription delivers to.
type Handler interface {
	Add(obj object.Object, initial bool)
	Update(old, obj object.Object)
	Delete(Deleted)
}

// Deleted is the deletion of an object.
type Deleted struct {
	Key               object.Key
	Object            object.Object
	FinalStateUnknown bool
}

// Informer keeps a table up to date with a source and tells subscriptions what changes.
type Informer struct {
	// set once at construction
	config Config
	broken error // if not nil, every method that can return an error returns it
	table  *table.Table
	reader reader // nil if broken
	sink   *sink
	synced chan struct{} // closed when the first full state is published

	// writing guards what follows. Lock order: writing before mu before Subscription.mu.
	writing   sync.Mutex
	txn       *table.Txn // open while a batch is applied, and from one batch to the next in a full state
	replacing bool       // txn is a full state that is not complete
	changes   []change   // made by txn
	indexes   []table.Index
	unsettled []table.Index // those of indexes that are in txn only

	// mu guards what follows. Lock order: see writing.
	mu       sync.Mutex
	pristine bool  // neither an object nor a full state has been published; written with writing held too
	end      *node // where the next changes go
	subs     []*Subscription
	run      *run // nil while nobody runs the informer
	waiters  []waiter
}

// New returns an informer that does not run.
func New(config Config) (*Informer, error) {
	i, err := newInformer(config)
	if err != nil {
		return nil, err
	}
	if err := i.AddIndexes(config.Indexes...); err != nil {
		return nil, err
	}
	rc := reflector.Config[object.Object]{
		Name:             config.Name,
		Source:           config.Source,
		Sink:             i.sink,
		PageSize:         config.PageSize,
		DisableWatchList: config.DisableWatchList,
	}
	if i.reader, err = reflector.New(rc); err != nil {
		return nil, err
	}
	return i, nil
}

// Broken returns an informer whose methods return err wherever they can return an error.
func Broken(name string, err error) *Informer {
	i, tableErr := newInformer(Config{Name: name})
	if tableErr != nil {
		err = errors.Join(err, tableErr)
	}
	i.broken = err
	return i
}

func newInformer(config Config) (*Informer, error) {
	t, err := table.New()
	return &Informer{
		config:   config,
		table:    t,
		sink:     &sink{},
		synced:   make(chan struct{}),
		pristine: true,
		end:      &node{},
	}, err
}

// Name returns what the informer is called.
func (i *Informer) Name() string { return i.config.Name }

// Table returns what the informer keeps up to date.
func (i *Informer) Table() *table.Table { return i.table }

// HandlerDefaults returns what AddHandler's config should begin with.
func (i *Informer) HandlerDefaults() HandlerConfig { return i.config.Handlers }

// Synced returns a channel that is closed when the first full state is published.
func (i *Informer) Synced() <-chan struct{} { return i.synced }

// HasSynced says whether Synced is closed.
func (i *Informer) HasSynced() bool { return closed(i.synced) }

// AddHandler registers a handler. It takes Informer.mu and waits for nothing else.
func (i *Informer) AddHandler(h Handler, config HandlerConfig) (*Subscription, error) {
	if i.broken != nil {
		return nil, i.broken
	}
	s := newSubscription(i, h, config)
	i.mu.Lock()
	defer i.mu.Unlock()
	s.cursor = i.end
	if !i.pristine {
		s.replay = i.table.Version()
	}
	i.subs = append(i.subs, s)
	if i.run != nil && i.run.open {
		i.run.spawn(s)
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

// AddIndexes adds all of the indexes, or none and returns an error. Indexes that the informer already has are skipped; if
// it has all of them, AddIndexes takes no lock.
func (i *Informer) AddIndexes(indexes ...Indexer) error {
	if i.broken != nil {
		return i.broken
	}
	if i.published(indexes) {
		return nil
	}
	i.writing.Lock()
	defer i.writing.Unlock()
	added, err := i.checkIndexesLocked(indexes)
	if err != nil || len(added) == 0 {
		return err
	}
	i.beginLocked()
	done := false
	defer func() {
		if !done && !i.replacing { // an index function has panicked
			i.txn.Discard()
			i.txn = nil
		}
	}()
	for _, index := range added {
		if err := i.txn.AddIndex(index); err != nil {
			return err
		}
	}
	done = true
	i.indexes = append(i.indexes, added...)
	if i.replacing {
		i.unsettled = append(i.unsettled, added...) // in case the full state is abandoned
	} else {
		i.publishLocked()
	}
	return nil
}

// published says whether the table's version has all of the indexes.
func (i *Informer) published(indexes []Indexer) bool {
	version := i.table.Version()
	return !slices.ContainsFunc(indexes, func(index Indexer) bool {
		if index == nil {
			return true
		}
		bound := index.Bind()
		if bound == nil {
			return true
		}
		_, has := version.IndexKeys(bound.ID())
		return !has
	})
}

// checkIndexesLocked returns those of indexes that the table lacks, or an error about the first wrong one.
func (i *Informer) checkIndexesLocked(indexes []Indexer) (lacking []table.Index, err error) {
	known := slices.Clone(i.indexes)
	for n, index := range indexes {
		var bound table.Index
		if index != nil {
			bound = index.Bind()
		}
		if bound == nil {
			return nil, fmt.Errorf("index %d is nil", n+1)
		}
		if err := bound.Check(); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(known, func(other table.Index) bool { return other.ID().Name == bound.ID().Name })
		if at < 0 {
			known = append(known, bound)
			lacking = append(lacking, bound)
		} else if known[at].ID() != bound.ID() {
			return nil, fmt.Errorf("two indexes have the name %q", bound.ID().Name)
		}
	}
	return lacking, nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
