// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// This file has the settings that the options of options.go write, and how they are applied.

// scope is the set of calls that take an option.
type scope uint8

const (
	inFactory scope = 1 << iota // NewFactory
	inFor                       // For
	inNew                       // New
)

func (s scope) String() string {
	var names []string
	for n, name := range []string{"NewFactory", "For", "New"} {
		if s&(1<<n) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// settings is what options write: the defaults of a factory, or the settings of one informer. Those
// of For start from a copy of the factory's.
type settings struct {
	identity
	agreed

	// What agreed has in a form that can be compared:
	formats         []source.Format
	dropAnnotations []string
	transform       func(object.Object) (object.Object, error)
	onError         func(informer string, err error)
	metrics         metrics.Provider
	report          func(Mutation)

	logger     *klog.Logger
	objectType goType // nil in a factory
	indexes    []engine.Indexer
	scopedBy   string // the option of this call that set Namespaces

	kinds        []kindDefaults // of a factory, in the order of its options
	scopedByKind bool           // one of kinds has set Namespaces
}

// identity distinguishes the informers of one resource and Go type in a factory.
type identity struct {
	Name string // "" without WithName
	// Namespaces are sorted, with commas between them; "" for all.
	Namespaces string

	LabelSelector, FieldSelector, ShardSelector string
}

// agreed is what two calls of For for one informer have to agree on.
type agreed struct {
	tuning            reflector.Tuning
	handlers          handlerSettings
	dropManagedFields bool
	unshared          bool // objects share nothing
	detect            bool // mutations
	emptyBeforeSync   bool

	// What settings has in a form that can't be compared:
	formatList, annotationList             string
	transformCode, onErrorCode, reportCode uintptr          // functions are compared by their code
	comparableMetrics                      metrics.Provider // nil if it can't be compared
}

type handlerSettings = engine.HandlerConfig

// defaults returns all defaults that are not the zero value.
func defaults() settings {
	return settings{agreed: agreed{handlers: handlerSettings{Threshold: 1024}}}
}

func (s *settings) comparable() agreed {
	a := s.agreed
	a.formatList, a.annotationList = fmt.Sprint(s.formats), strings.Join(s.dropAnnotations, ",")
	if provider := reflect.ValueOf(s.metrics); provider.IsValid() && provider.Comparable() {
		a.comparableMetrics = s.metrics
	}
	return a
}

var errClusterScoped = errors.New("a cluster-scoped kind has no namespaces")

// setNamespaces implements WithNamespace.
func (s *settings) setNamespaces(namespaces []string) error {
	// A new slice, because several goroutines may apply the same option.
	namespaces = slices.Compact(slices.Sorted(slices.Values(namespaces)))
	switch {
	case s.scopedBy == "WithClusterScope":
		return errClusterScoped
	case len(namespaces) == 0:
		return errors.New(`no namespace; "" means all of them`)
	case len(namespaces) > 1 && namespaces[0] == "":
		return errors.New(`"" means all namespaces, so it can't be one of several`)
	}
	for _, namespace := range namespaces {
		if strings.ContainsAny(namespace, ",/ ") {
			return fmt.Errorf("%q is no namespace", namespace)
		}
	}
	s.Namespaces, s.scopedBy = strings.Join(namespaces, ","), "WithNamespace"
	return nil
}

// refine returns t with those fields of more that are not zero.
func refine(t, more reflector.Tuning) reflector.Tuning {
	return reflector.Tuning{
		PageSize:             cmp.Or(more.PageSize, t.PageSize),
		DisableWatchList:     more.DisableWatchList || t.DisableWatchList,
		InitialEventsTimeout: cmp.Or(more.InitialEventsTimeout, t.InitialEventsTimeout),
		WatchTimeout:         cmp.Or(more.WatchTimeout, t.WatchTimeout),
		SilenceTimeout:       cmp.Or(more.SilenceTimeout, t.SilenceTimeout),
		Backoff: reflector.Backoff{
			Initial:       cmp.Or(more.Backoff.Initial, t.Backoff.Initial),
			Max:           cmp.Or(more.Backoff.Max, t.Backoff.Max),
			Factor:        cmp.Or(more.Backoff.Factor, t.Backoff.Factor),
			Jitter:        cmp.Or(more.Backoff.Jitter, t.Backoff.Jitter),
			ResetAfter:    cmp.Or(more.Backoff.ResetAfter, t.Backoff.ResetAfter),
			MaxRetryAfter: cmp.Or(more.Backoff.MaxRetryAfter, t.Backoff.MaxRetryAfter),
		},
	}
}

// namespaces returns the namespaces, at least one; "" means all.
func (id identity) namespaces() []string { return strings.Split(id.Namespaces, ",") }

// describe returns the name of an informer: its own name, or that of the kind and the parts of id
// that differ from the kind's default.
func (id identity) describe(gvr schema.GroupVersionResource, t goType, kind identity, clusterScoped bool) string {
	if id.Name != kind.Name {
		return id.Name
	}
	var b strings.Builder
	b.WriteString(cmp.Or(id.Name, resourceName(gvr)))
	switch namespaces := id.namespaces(); {
	case clusterScoped || id.Namespaces == kind.Namespaces:
	case id.Namespaces == "":
		b.WriteString(" in all namespaces")
	case len(namespaces) == 1:
		fmt.Fprintf(&b, " in namespace %q", id.Namespaces)
	default:
		fmt.Fprintf(&b, " in namespaces %q", namespaces)
	}
	for _, part := range []struct{ what, own, default_ string }{
		{"labels", id.LabelSelector, kind.LabelSelector},
		{"fields", id.FieldSelector, kind.FieldSelector},
		{"shard", id.ShardSelector, kind.ShardSelector},
	} {
		switch part.own {
		case part.default_:
		case "":
			fmt.Fprintf(&b, " with any %s", part.what)
		default:
			fmt.Fprintf(&b, " with %s %q", part.what, part.own)
		}
	}
	switch {
	case id.Name != "":
	case t == metadataType:
		b.WriteString(" (metadata)")
	case forAnyKind(t):
		b.WriteString(" (unstructured)")
	}
	return b.String()
}

// sources returns one source for each namespace.
func (s *settings) sources(c *source.Client, gvr schema.GroupVersionResource) ([]engine.Stream, error) {
	elem := s.objectType.(reflect.Type).Elem()
	all, err := source.New[object.Object](c, gvr, source.Options{
		NewObject:         func() object.Object { return reflect.New(elem).Interface().(object.Object) },
		LabelSelector:     s.LabelSelector,
		FieldSelector:     s.FieldSelector,
		ShardSelector:     s.ShardSelector,
		Formats:           s.formats,
		DropManagedFields: s.dropManagedFields,
		DropAnnotations:   s.dropAnnotations,
	})
	if err != nil {
		return nil, err
	}
	var streams []engine.Stream
	for _, namespace := range s.namespaces() {
		src, err := all.In(namespace)
		if err != nil {
			return nil, err
		}
		streams = append(streams, engine.Stream{Namespace: namespace, Source: src})
	}
	return streams, nil
}

func (s *settings) newEngine(name string, streams ...engine.Stream) (*engine.Informer, error) {
	config := engine.Config{
		Name:      name,
		Streams:   streams,
		Indexes:   s.indexes,
		Tuning:    s.tuning,
		Transform: s.transform,
		Unshared:  s.unshared,
		Handlers:  s.handlers,
		Logger:    s.logger,
		Metrics:   s.metrics,
		Mutations: s.detector(name),

		EmptyBeforeSync: s.emptyBeforeSync,
	}
	if handle := s.onError; handle != nil {
		config.OnError = func(err error) { handle(name, err) }
	}
	return engine.New(config)
}

// detector returns nil unless an option or the environment asks for one.
func (s *settings) detector(name string) *mutation.Detector {
	switch {
	case s.detect:
		return newDetector(name, s.report)
	case mutation.FromEnvironment():
		return mutation.New(name, mutation.Panic)
	}
	return nil
}

// eraseTransform returns transform for any type. It leaves the checks of the result (not nil, the
// same type) to the engine. It isn't inlined, to save compile time.
//
//go:noinline
func eraseTransform[T object.Object](transform func(T) (T, error)) func(object.Object) (object.Object, error) {
	if transform == nil {
		return nil
	}
	return func(obj object.Object) (object.Object, error) { return transform(obj.(T)) }
}

// codeOf returns the address of a function's code, by which functions are compared.
//
//go:noinline
func codeOf(fn any) uintptr { return reflect.ValueOf(fn).Pointer() }

func (o option) String() string        { return o.name }
func (o sharedOption) String() string  { return o.name }
func (o handlerOption) String() string { return o.name }

type option struct {
	name  string
	where scope
	apply func(*settings) error
}

func (o option) applyInformer(s *settings, where scope) error {
	if o.where&where == 0 {
		return fmt.Errorf("%s: not an option of %v; use it with %v", o.name, where, o.where)
	}
	return named(o.name, o.apply(s))
}

type sharedOption struct {
	name  string
	apply func(*handlerSettings) error
}

func (o sharedOption) applyInformer(s *settings, _ scope) error {
	return named(o.name, o.apply(&s.handlers))
}
func (o sharedOption) applyHandler(s *handlerSettings) error { return named(o.name, o.apply(s)) }

type handlerOption sharedOption

func (o handlerOption) applyHandler(s *handlerSettings) error { return named(o.name, o.apply(s)) }

func named(name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// applyAll applies opts to s, and returns an error that joins all that is wrong with them.
func (s *settings) applyAll(where scope, opts []Option) error {
	var errs []error
	s.scopedBy = ""
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt.applyInformer(s, where))
	}
	return errors.Join(errs...)
}

func applyHandlerOptions(s *handlerSettings, opts []HandlerOption) error {
	var errs []error
	for i, opt := range opts {
		if opt == nil {
			errs = append(errs, fmt.Errorf("option %d is nil", i+1))
			continue
		}
		errs = append(errs, opt.applyHandler(s))
	}
	return errors.Join(errs...)
}

// eraseIndexes returns indexes for any type. A nil index stays nil; the engine refuses it.
func eraseIndexes[T object.Object](indexes []store.Indexer[T]) []engine.Indexer {
	erased := make([]engine.Indexer, len(indexes))
	for i, index := range indexes {
		if index != nil {
			erased[i] = index
		}
	}
	return erased
}
