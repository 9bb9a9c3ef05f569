// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Never is the threshold that is never passed.
const Never = -1

// Config is what an Informer is made of.
type Config struct {
	Name    string
	Streams []Stream // at least one; of several, each has a namespace of its own
	// SourceIn returns the source for a namespace that is added. nil: none can be added.
	SourceIn func(namespace string) (source.Source[object.Object], error)
	Indexes  []Indexer
	Tuning   reflector.Tuning

	// OnError is called with Name, without a lock, by readers and appliers, possibly several at
	// once. nil: none. SetOnError may replace it.
	OnError func(informer string, err error)
	// Transform is called by readers, possibly several at once. nil: none. SetTransform may replace
	// it.
	Transform func(object.Object) (object.Object, error)
	// TransformCode is the address of the code of the user's function behind Transform; 0 if there
	// is none.
	TransformCode uintptr
	// FileOf returns the files in which the states of streams are kept between processes. nil: they
	// are not.
	FileOf FileOf

	Unshared  bool               // objects share nothing with each other
	Handlers  HandlerConfig      // defaults for AddHandler
	Logger    *klog.Logger       // nil: that of the context of a run
	Metrics   metrics.Provider   // nil: none
	Mutations *mutation.Detector // nil: none

	// EmptyBeforeSync: until the first sync, reads of the table find no objects and return no
	// error.
	EmptyBeforeSync bool
}

// Stream is a collection of objects that an Informer reads.
type Stream struct {
	Namespace string // "": all
	Source    source.Source[object.Object]
}

// HandlerConfig is how one handler is treated.
type HandlerConfig struct {
	Name      string
	Resync    time.Duration // 0: never
	Threshold int           // of events that wait before they are merged, or Never
	Crash     bool          // let panics end the process
	// Logger gets what is logged about the handler. nil: that of the run.
	Logger *klog.Logger
	// EveryDeletion: merging drops no deletion.
	EveryDeletion bool
}

// Indexer makes a table.Index for one table. store.AnyIndex is one.
type Indexer interface{ Bind() table.Index }

// Handler is what a subscription delivers to.
type Handler interface {
	OnAdd(obj object.Object, initial bool)
	OnUpdate(old, obj object.Object)
	OnDelete(Deleted)
}

// Deleted is the deletion of an object.
type Deleted struct {
	Key               object.Key
	Object            object.Object
	FinalStateUnknown bool
}
