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
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Config is what an Intake is made of.
type Config struct {
	Name    string         // of the informer
	Streams []StreamConfig // at least one; of several, each has a namespace of its own
	// SourceIn returns the source for a namespace that is added. nil: none can be added.
	SourceIn func(namespace string) (source.Source[object.Object], error)
	Tuning   reflector.Tuning

	// OnError is called with Name, without a lock, by the readers and by the loop, possibly several
	// at once. nil: none.
	OnError func(informer string, err error)
	// Transform is called by readers, possibly several at once. nil: none.
	Transform func(object.Object) (object.Object, error)
	// TransformCode is the address of the code of the user's function behind Transform; 0 if there
	// is none.
	TransformCode uintptr
	// FileOf returns the files in which the states of streams are kept between processes. nil: they
	// are not.
	FileOf FileOf

	Unshared  bool               // objects share nothing with each other
	Mutations *mutation.Detector // is told which objects are stored; nil: none

	// Publish publishes what a batch has changed, and returns a function that waits for handlers
	// that lag, or nil. It is called by one goroutine at a time.
	Publish func(Publication) (wait func(over <-chan struct{}))
	// StateChanged is called when the state of a stream's reader has changed.
	StateChanged func()
	// Connect gives a stream its reader. nil: a reflector.
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
	Go       func(func())    // starts a goroutine that the run waits for
	Logger   klog.Logger
	Recorder metrics.InformerRecorder // nil without metrics
}

// Publication is a change of the table that is ready to be published.
type Publication struct {
	Stream  *Stream // whose objects, or whose version, changed; nil: indexes were added
	Changes []changelog.Change
	Full    bool // Changes are the differences of a full state, or of its removal
	First   bool // the stream has had no full state before; unless it is late, there are no Changes
	Added   bool // the stream was added
	Removed bool // the stream was removed

	txn table.Txn
	// streams makes the set of streams what it is from then on; nil if it stays.
	streams func()
}

// Commit publishes the version, and returns it.
func (p Publication) Commit() *table.Version {
	if p.streams != nil {
		p.streams()
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
	adoption sharer

	// all has the streams. It is replaced under both writing and mu, and read without a lock.
	all atomic.Pointer[[]*Stream]

	// writing guards what follows, and the one open transaction. The loop holds it for one batch;
	// AddIndexes, AddNamespace and RemoveNamespace hold it as well, since no loop may be running.
	// Lock order: writing before mu.
	writing sync.Mutex
	indexes []*guarded
	panics  []indexPanic // of the batch that is being applied
	divided bool         // the table has a resourceVersion for each namespace
	newest  uint64       // the number of the stream that was added last
	run     *Run         // nil if there is none
	// starting limits how many streams of the run start at a time.
	starting starting

	mu       sync.Mutex // guards what follows
	byNumber map[uint64]*Stream
	past     Past // of the streams that were removed
	queue    fifo // of the run; nil if there is none
}

// New returns an Intake, which is the only one to write to the table.
func New(config Config, t *table.Table, epoch time.Time) (*Intake, error) {
	in := &Intake{config: config, table: t, epoch: epoch, adoption: newAdoption(&config), byNumber: map[uint64]*Stream{}}
	if len(config.Streams) == 0 {
		return nil, errors.New("there is nothing to read: Config.Streams is empty")
	}
	for n, c := range config.Streams {
		if len(config.Streams) > 1 && c.Namespace == "" {
			return nil, errors.New("one of several streams has no namespace")
		}
		if slices.ContainsFunc(config.Streams[:n], func(other StreamConfig) bool { return other.Namespace == c.Namespace }) {
			return nil, fmt.Errorf("two streams have the namespace %q", c.Namespace)
		}
	}
	for _, c := range config.Streams {
		s, err := in.newStream(c)
		if err != nil {
			return nil, err
		}
		in.setStreams(append(in.Streams(), s), nil)
	}
	if len(in.Streams()) > 1 {
		txn := t.Begin()
		in.divide(txn)
		txn.Publish()
	}
	return in, nil
}

// SetTransform sets Config.Transform and TransformCode. No run may have begun.
func (in *Intake) SetTransform(transform func(object.Object) (object.Object, error), code uintptr) {
	in.config.Transform, in.config.TransformCode = transform, code
	in.adoption = newAdoption(&in.config)
}

// SetOnError sets Config.OnError. No run may have begun.
func (in *Intake) SetOnError(handle func(informer string, err error)) { in.config.OnError = handle }

// Streams returns the streams. The slice must not be changed.
func (in *Intake) Streams() []*Stream {
	if all := in.all.Load(); all != nil {
		return *all
	}
	return nil
}

// setStreams is called with writing held, or before the Intake is used. removed is the stream that
// is no longer among them; nil if there is none.
func (in *Intake) setStreams(all []*Stream, removed *Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.byNumber)
	for _, s := range all {
		in.byNumber[s.number] = s
	}
	in.all.Store(&all)
	if removed != nil {
		in.past.add(removed)
	}
}

// StreamOf returns the stream that reads the objects of a namespace, nil if none does.
func (in *Intake) StreamOf(namespace string) *Stream {
	for _, s := range in.Streams() {
		if s.namespace == "" || s.namespace == namespace {
			return s
		}
	}
	return nil
}

// Past returns the totals of the streams that were removed, and the other streams.
func (in *Intake) Past() (Past, []*Stream) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.past, in.Streams()
}

// Totals counts what the sources have brought, over all runs.
func (in *Intake) Totals() *Totals { return &in.totals }

// Queued returns how many deltas wait in the DeltaFIFO, or are objects of full states that are not
// complete.
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

// now returns the time since the epoch.
func (in *Intake) now() time.Duration { return time.Since(in.epoch) }
