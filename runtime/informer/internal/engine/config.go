// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Config configures an Informer. [intake.Config] documents the fields it has in common.
type Config struct {
	Name     string
	Resource schema.GroupVersionResource // the zero value if the Source doesn't know
	Streams  []intake.StreamConfig
	SourceIn func(namespace string) (source.Source[object.Object], error)
	// Namespaces has an object for each namespace to read, with its name. The informer keeps it
	// running while it runs itself. nil: Streams and AddNamespace say what to read.
	Namespaces *Informer
	// Ring says which buckets of the objects of Streams to read. With Namespaces, the informer may
	// read each namespace by itself. nil: all objects.
	Ring       *partition.Hub
	RingLimits RingLimits

	Indexes  []intake.Indexer
	Tuning   reflector.Tuning
	Optional bool

	OnError       func(informer string, err error)
	Transform     func(object.Object) (object.Object, error)
	TransformCode uintptr
	FileOf        intake.FileOf

	Unshared  bool
	Handlers  fanout.HandlerConfig // defaults for AddHandler
	Logger    *klog.Logger         // nil: that of the context of a run
	Metrics   metrics.Provider     // nil: none
	Mutations *mutation.Detector   // nil: none

	// EmptyBeforeSync makes reads of the table before the first sync find nothing, without an
	// error.
	EmptyBeforeSync bool

	connect func(*intake.Stream) (intake.Reader, error) // for tests
}

// selects reports whether Namespaces or Ring say which streams there are.
func (c *Config) selects() bool { return c.Namespaces != nil || c.Ring != nil }

// sourceIn returns the source of a namespace: that of Streams, if it is one of theirs.
func (c *Config) sourceIn(namespace string) (source.Source[object.Object], error) {
	for _, s := range c.Streams {
		if s.Namespace == namespace {
			return s.Source, nil
		}
	}
	return c.SourceIn(namespace)
}
