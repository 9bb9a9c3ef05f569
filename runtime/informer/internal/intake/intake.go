// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Config configures an Intake.
type Config struct {
	Name    string         // of the informer
	Streams []StreamConfig // at least one, unless Selected; several have different namespaces
	// SourceIn returns the source for an added namespace. nil: none can be added.
	SourceIn func(namespace string) (source.Source[object.Object], error)
	Selected bool // only SetNamespaces and SetWanted add and remove namespaces
	// Partition has the buckets of SetWanted; nil without a ring.
	Partition *partition.Partition
	Tuning    reflector.Tuning
	Optional  bool // the server may lack the resource; see reflector.Config

	// OnError is called with Name, without a lock, by the readers and by the loop, possibly several
	// at once. nil: none.
	OnError func(informer string, err error)
	// Transform is called by readers, possibly several at once. nil: none.
	Transform func(object.Object) (object.Object, error)
	// TransformCode is the address of the code of the user's function behind Transform; 0 if none.
	TransformCode uintptr
	// FileOf returns the files that keep the states of streams between processes. nil: none.
	FileOf FileOf

	Unshared  bool               // objects share nothing with each other
	Mutations *mutation.Detector // gets every stored object; nil: none

	// Publish publishes a batch's changes, and returns a function that waits for handlers that lag,
	// or nil. It is called by one goroutine at a time.
	Publish func(Publication) (wait func(over <-chan struct{}))
	// StateChanged is called when the state of a stream's reader has changed.
	StateChanged func()
	// Connect makes the reader of a stream. nil: a reflector.
	Connect func(*Stream) (Reader, error)
}

// StreamConfig is a collection of objects to read.
type StreamConfig struct {
	Namespace string // "": all
	Source    source.Source[object.Object]
}

// Reader reads a source into a sink. Outside of tests it is a Reflector.
type Reader interface {
	Run(ctx context.Context) error
	Status() reflector.Status
}

// Run is a period in which streams are read.
type Run struct {
	Ctx      context.Context // done when the run is over
	Fail     func(error)     // ends the run
	Go       func(func())    // starts a goroutine of the run
	Logger   klog.Logger
	Recorder metrics.InformerRecorder // nil without metrics
}

// Publication is a change of the table that is ready to be published.
type Publication struct {
	Stream  *Stream // whose objects or version changed; nil: indexes or streams were added
	Changes []changelog.Change
	Full    bool      // Changes are the differences of a full state, or of its removal
	First   bool      // the stream's first full state; no Changes unless the stream was added later
	Removed bool      // the stream was removed
	Added   []*Stream // the added streams
	// Lost are the buckets that the stream has lost; Changes are the deletions of their objects.
	Lost partition.Set

	txn table.Txn
	// setStreams makes the new set of streams current; nil if it is unchanged.
	setStreams func()
}

// Commit publishes the version, and returns it.
func (p Publication) Commit() *table.Version {
	if p.setStreams != nil {
		p.setStreams()
	}
	version := p.txn.Publish()
	if p.First {
		close(p.Stream.synced)
	}
	return version
}

// Intake keeps a table up to date with its streams.
type Intake struct {
	config   Config // set until the first run begins
	table    *table.Table
	epoch    time.Time
	totals   Totals
	interner interner

	// streams is replaced under both writeMu and mu, and read without a lock.
	streams atomic.Pointer[[]*Stream]

	// writeMu guards these, and the one open transaction. The loop holds it for one batch;
	// AddIndexes, AddNamespace and RemoveNamespace hold it as well, since no loop may be running.
	// Lock order: writeMu before mu.
	writeMu sync.Mutex
	indexes []*guardedIndex
	panics  []indexPanic // of the batch that is being applied
	run     *Run         // nil if none

	versionPerNamespace bool       // the table has a resourceVersion for each namespace
	lastNumber          uint64     // the number of the stream added last
	startLimit          startLimit // of the run
	wanted              *selection // what to read; nil: each stream has all objects

	mu            sync.Mutex // guards the rest
	byNumber      map[uint64]*Stream
	removedTotals RemovedTotals
	queue         fifo // of the run; nil if none
}

// New returns an Intake, the table's only writer.
func New(config Config, t *table.Table, epoch time.Time) (*Intake, error) {
	in := &Intake{config: config, table: t, epoch: epoch, interner: newInterner(&config), byNumber: map[uint64]*Stream{}}
	if len(config.Streams) == 0 && !config.Selected {
		return nil, errors.New("there is nothing to read; give at least one namespace")
	}
	for n, c := range config.Streams {
		if len(config.Streams) > 1 && c.Namespace == "" {
			return nil, errors.New("one of several streams has no namespace")
		}
		if slices.ContainsFunc(config.Streams[:n], func(other StreamConfig) bool { return other.Namespace == c.Namespace }) {
			return nil, fmt.Errorf("namespace %q is given twice", c.Namespace)
		}
	}
	for _, c := range config.Streams {
		s, err := in.newStream(c)
		if err != nil {
			return nil, err
		}
		in.addStreams(s)
	}
	if len(in.Streams()) > 1 {
		txn := t.Begin()
		in.splitVersion(txn)
		txn.Publish()
	}
	return in, nil
}

// SetTransform sets Config.Transform and TransformCode. No run may have begun.
func (in *Intake) SetTransform(transform func(object.Object) (object.Object, error), code uintptr) {
	in.config.Transform, in.config.TransformCode = transform, code
	in.interner = newInterner(&in.config)
}

// SetOnError sets Config.OnError. No run may have begun.
func (in *Intake) SetOnError(handle func(informer string, err error)) { in.config.OnError = handle }

// Streams returns the streams. The slice must not be changed.
func (in *Intake) Streams() []*Stream {
	if all := in.streams.Load(); all != nil {
		return *all
	}
	return nil
}

// addStreams is called with writeMu held, or before the Intake is used.
func (in *Intake) addStreams(added ...*Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range added {
		in.byNumber[s.number] = s
	}
	all := append(slices.Clip(in.Streams()), added...)
	in.streams.Store(&all)
}

// removeStream is called with writeMu held.
func (in *Intake) removeStream(s *Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.byNumber, s.number)
	all := slices.DeleteFunc(slices.Clone(in.Streams()), func(other *Stream) bool { return other == s })
	in.streams.Store(&all)
	in.removedTotals.add(s)
}

// StreamOf returns the stream that reads a namespace, nil if none does.
func (in *Intake) StreamOf(namespace string) *Stream {
	for _, s := range in.Streams() {
		if s.namespace == "" || s.namespace == namespace {
			return s
		}
	}
	return nil
}

// RemovedTotals returns the totals of removed streams, and the other streams.
func (in *Intake) RemovedTotals() (RemovedTotals, []*Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.removedTotals, in.Streams()
}

// Totals returns the counters of all runs.
func (in *Intake) Totals() *Totals { return &in.totals }

// Queued returns the number of deltas in the DeltaFIFO and of objects in incomplete full states.
func (in *Intake) Queued() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.queue != nil {
		n = in.queue.Len()
	}
	for _, s := range in.Streams() {
		n += int(s.staging.size.Load())
	}
	return n
}

func (in *Intake) setQueue(queue fifo) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue = queue
}

func (in *Intake) now() time.Duration { return time.Since(in.epoch) }
