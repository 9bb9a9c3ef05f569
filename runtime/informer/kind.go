// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// KindOptions are options of the informers of one kind. A field with its zero value changes
// nothing; any other one replaces the value of the factory, or of an earlier KindOptions. Only
// Indexes are added to earlier ones.
type KindOptions[T object.Object] struct {
	// Name is the name of the informer: [WithName].
	Name string
	// Namespaces are the namespaces that are read: [WithNamespace]. A single "" means all of them.
	// A list that is empty but not nil is an error, and so is any list for a cluster-scoped kind.
	Namespaces []string
	// LabelSelector restricts the objects: [WithLabelSelector]. labels.Everything() cancels that of
	// the factory.
	LabelSelector labels.Selector
	// FieldSelector restricts the objects: [WithFieldSelector]. fields.Everything() cancels that of
	// the factory.
	FieldSelector fields.Selector
	// Transform is called with each object before it is stored: [WithTransform].
	Transform func(obj T) (T, error)
	// Indexes are added to those that the kind has anyway: [WithIndexes].
	Indexes []store.Indexer[T]
	// ResyncPeriod is how often handlers are called with every object: [WithResyncPeriod].
	// WithResyncPeriod(0) in Options cancels that of the factory.
	ResyncPeriod time.Duration
	// ErrorHandler is called with failures: [WithErrorHandler].
	ErrorHandler func(informer string, err error)
	// Options are any other options that [For] takes. They are applied after the fields.
	Options []Option
}

// WithKind sets defaults for the informers of one kind: a resource whose objects have the Go type
// T. A default of the factory applies where options has none, wherever it stands in NewFactory's
// arguments. Options given to [For], or to [Kind.With], override both. If WithKind is given twice
// for one kind, the later fields win. Only [NewFactory] takes it. Generated code has one such
// function for each kind, with the resource filled in.
//
// For with another Go type for the resource is an error, with two exceptions: a factory may also
// have informers of *unstructured.Unstructured and of *metav1.PartialObjectMetadata for the
// resource, and these have options of their own.
func WithKind[T object.Object](resource schema.GroupVersionResource, options KindOptions[T]) Option {
	return withKind(kindDefaults{resource, typeOf((*T)(nil)), eraseOptions(options)})
}

// Kind is one kind of a factory's informers. A generated XInformer has one. Its methods may be
// called by any goroutine at any time. The Informer of the zero Kind returns errors only.
type Kind[T object.Object] struct{ erased kind }

// NewKind returns the kind whose informers are For(factory, resource, opts...).
//
//go:noinline
func NewKind[T object.Object](factory *Factory, resource schema.GroupVersionResource, opts ...Option) *Kind[T] {
	return &Kind[T]{kind{factory, resource, opts}}
}

// Informer returns the factory's informer of the kind; see [For].
func (k *Kind[T]) Informer() *SharedIndexInformer[T] {
	return view[T](k.erased.entry(typeOf((*T)(nil))))
}

// With returns the kind with other options. If the namespaces, selectors, shard or name differ, its
// Informer is another one, with a store, handlers and a status of its own. It is started and
// stopped like any other informer of the factory.
func (k *Kind[T]) With(options KindOptions[T]) *Kind[T] {
	return &Kind[T]{k.erased.with(eraseOptions(options))}
}

// --- private from here ---

// eraseOptions returns the options that the fields of o stand for. It is not a method, to save
// compile time.
func eraseOptions[T object.Object](o KindOptions[T]) []Option {
	opts := kindOptions(o.Name, o.Namespaces, o.LabelSelector, o.FieldSelector, o.ResyncPeriod, o.ErrorHandler)
	if o.Transform != nil {
		opts = append(opts, WithTransform(o.Transform))
	}
	if len(o.Indexes) > 0 {
		opts = append(opts, WithIndexes(o.Indexes...))
	}
	return append(opts, o.Options...)
}

func kindOptions(name string, namespaces []string, labels labels.Selector, fields fields.Selector, resync time.Duration, onError func(string, error)) []Option {
	var opts []Option
	if name != "" {
		opts = append(opts, WithName(name))
	}
	if namespaces != nil {
		opts = append(opts, WithNamespace(namespaces...))
	}
	if labels != nil {
		opts = append(opts, WithLabelSelector(labels))
	}
	if fields != nil {
		opts = append(opts, WithFieldSelector(fields))
	}
	if resync != 0 {
		opts = append(opts, WithResyncPeriod(resync))
	}
	if onError != nil {
		opts = append(opts, WithErrorHandler(onError))
	}
	return opts
}

// kind is a Kind without its type parameter, so that its methods are compiled once.
type kind struct {
	factory  *Factory
	resource schema.GroupVersionResource
	opts     []Option // never modified in place
}

func (k *kind) entry(t goType) *entry {
	return entryOf(k.factory, k.resource, t, k.opts)
}

func (k *kind) with(opts []Option) kind {
	return kind{k.factory, k.resource, append(k.opts[:len(k.opts):len(k.opts)], opts...)}
}

// kindDefaults are the options of one WithKind.
type kindDefaults struct {
	resource   schema.GroupVersionResource
	objectType goType
	opts       []Option
}

// withKind checks the options when the factory is made, because the factory may never have an
// informer of the kind. It isn't inlined, to save compile time.
//
//go:noinline
func withKind(k kindDefaults) Option {
	return option{"WithKind", inFactory, func(s *settings) error {
		trial := defaults()
		trial.objectType = k.objectType
		if err := errors.Join(checkKind(k.resource, k.objectType), trial.applyAll(inFor, k.opts)); err != nil {
			return fmt.Errorf("%s: %w", resourceName(k.resource), err)
		}
		s.kinds = append(s.kinds, k)
		return nil
	}}
}

func checkKind(resource schema.GroupVersionResource, of goType) error {
	switch t := of.(reflect.Type); {
	case resource.Resource == "" || resource.Version == "":
		return fmt.Errorf("%q lacks a resource or a version", resource)
	case t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct:
		return fmt.Errorf("objects of type %v can not be made; want a pointer to a struct", t)
	}
	return nil
}

// applyKind applies the options of WithKind for the informers of one kind. It returns an error if
// they are for another Go type.
func (s *settings) applyKind(resource schema.GroupVersionResource) error {
	var errs []error
	for _, k := range s.kinds {
		switch {
		case k.resource != resource:
		case k.objectType == s.objectType:
			errs = append(errs, s.applyAll(inFor, k.opts))
			s.scopedByKind = s.scopedByKind || s.scopedBy != "" && s.scopedBy != "WithClusterScope"
		case !forAnyKind(k.objectType) && !forAnyKind(s.objectType):
			errs = append(errs, fmt.Errorf("objects of type %v, but WithKind has options for objects of type %v", s.objectType, k.objectType))
		}
	}
	return errors.Join(errs...)
}

// goType is a reflect.Type, as an interface with only one method, to save compile time: the
// compiler compiles the types that methods return in each package that can reach them, and each
// package of generated code can reach this one.
type goType interface{ String() string }

// typeOf returns the type that pointer points to. It isn't inlined, to save compile time.
//
//go:noinline
func typeOf(pointer any) goType { return reflect.TypeOf(pointer).Elem() }

var metadataType, anyType = typeOf((**metav1.PartialObjectMetadata)(nil)), typeOf((*object.Object)(nil))

// forAnyKind reports whether objects of the Go type t may be of any kind.
func forAnyKind(t goType) bool {
	return t == metadataType || t.(reflect.Type).Implements(reflect.TypeFor[runtime.Unstructured]())
}
