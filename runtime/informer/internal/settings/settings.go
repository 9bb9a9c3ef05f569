// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Settings are the defaults of a factory, or the settings of one informer. For starts from a copy
// of the factory's.
type Settings struct {
	Identity
	SharedSettings

	// SharedSettings has these in comparable form:
	Formats         []source.Format
	DropAnnotations []string
	Transform       func(object.Object) (object.Object, error)
	OnError         func(informer string, err error)
	Metrics         metrics.Provider
	Report          func(mutation.Mutation) // nil logs

	Logger     *klog.Logger
	ObjectType GoType // nil in a factory
	Indexes    []intake.Indexer
	scopedBy   string // this call's option that set Namespaces; "" if none

	RingLimits engine.RingLimits

	Kinds        []Kind // of a factory, in the order of its options
	ScopedByKind bool   // one of Kinds set Namespaces
}

// Identity distinguishes the informers of one resource and Go type in a factory.
type Identity struct {
	Name string // "" without WithName
	// Namespaces are sorted, with commas between them; "" for all, or for those that match
	// NamespaceSelector, if that is not "".
	Namespaces, NamespaceSelector string

	LabelSelector, FieldSelector, ShardSelector string

	Ring *partition.Hub // nil: the objects of all buckets
}

// SharedSettings must be equal in all calls of For for one informer.
type SharedSettings struct {
	Tuning            reflector.Tuning
	Optional          bool // the server may lack the resource
	Handlers          fanout.HandlerConfig
	DropManagedFields bool
	CheckpointDir     string // "" for none
	Confidential      string // resources allowed there, with commas between
	Unshared          bool   // objects share nothing
	DetectMutations   bool   // enables the mutation detector
	EmptyBeforeSync   bool

	// Functions are compared by their code; see CodeOf.
	TransformCode, OnErrorCode, ReportCode uintptr

	// Settings in comparable form:
	formatList, annotationList string
	comparableMetrics          metrics.Provider // nil if it isn't comparable
}

// Kind has the defaults for one kind of a factory's informers.
type Kind struct {
	Resource   schema.GroupVersionResource
	ObjectType GoType
	Apply      func(*Settings) error
}

// SourceIn returns the source of a namespace.
type SourceIn = func(namespace string) (source.Source[object.Object], error)

// Default returns the defaults.
func Default() Settings {
	return Settings{
		SharedSettings: SharedSettings{Handlers: fanout.HandlerConfig{Threshold: 1024}},
		RingLimits:     engine.RingLimits{Streams: 200, Asked: 400},
	}
}

// Comparable returns the part on which another call of For must agree.
func (s *Settings) Comparable() SharedSettings {
	a := s.SharedSettings
	a.formatList, a.annotationList = fmt.Sprint(s.Formats), strings.Join(s.DropAnnotations, ",")
	if provider := reflect.ValueOf(s.Metrics); provider.IsValid() && provider.Comparable() {
		a.comparableMetrics = s.Metrics
	}
	return a
}

// SplitNamespaces returns the namespaces, at least one; "" means all.
func (id Identity) SplitNamespaces() []string { return strings.Split(id.Namespaces, ",") }

// NewEngine makes an informer with these settings. sourceIn returns the source of an added
// namespace; nil if none can be added.
func (s *Settings) NewEngine(name string, sourceIn SourceIn, streams ...intake.StreamConfig) (*engine.Informer, error) {
	return s.newEngine(engine.Config{Name: name, SourceIn: sourceIn, Streams: streams}, streams...)
}

// NewRingEngine makes an informer of the namespaces in buckets of the ring, or of all namespaces.
// namespaces has them all.
func (s *Settings) NewRingEngine(name string, sourceIn SourceIn, namespaces *engine.Informer) (*engine.Informer, error) {
	all, err := sourceIn("")
	if err != nil {
		return nil, err
	}
	stream := intake.StreamConfig{Source: all}
	return s.newEngine(engine.Config{Name: name, SourceIn: sourceIn, Namespaces: namespaces, Streams: []intake.StreamConfig{stream}}, stream)
}

// NewSelectingEngine makes an informer of the namespaces that are the objects of another one.
func (s *Settings) NewSelectingEngine(name string, sourceIn SourceIn, namespaces *engine.Informer) (*engine.Informer, error) {
	all, err := sourceIn("")
	if err != nil {
		return nil, err
	}
	return s.newEngine(engine.Config{Name: name, SourceIn: sourceIn, Namespaces: namespaces}, intake.StreamConfig{Source: all})
}

// newEngine adds the settings to config. The informer reads sources like the samples.
func (s *Settings) newEngine(config engine.Config, samples ...intake.StreamConfig) (*engine.Informer, error) {
	if err := s.checkRing(); err != nil {
		return nil, err
	}
	files, err := s.fileOf(config.Name, samples)
	if err != nil {
		return nil, err
	}
	if len(samples) > 0 {
		config.Resource = resourceOf(samples[0].Source)
	}
	config.Ring, config.RingLimits = s.Ring, s.RingLimits
	config.Indexes = s.Indexes
	config.Tuning = s.Tuning
	config.Optional = s.Optional
	config.OnError = s.OnError
	config.Transform = s.Transform
	config.TransformCode = s.TransformCode
	config.FileOf = files
	config.Unshared = s.Unshared
	config.Handlers = s.Handlers
	config.Logger = s.Logger
	config.Metrics = s.Metrics
	config.Mutations = s.detector(config.Name)
	config.EmptyBeforeSync = s.EmptyBeforeSync
	return engine.New(config)
}

func (s *Settings) detector(name string) *mutation.Detector {
	switch {
	case s.DetectMutations:
		return mutation.New(name, s.Report)
	case mutation.FromEnvironment():
		return mutation.New(name, mutation.Panic)
	}
	return nil
}
