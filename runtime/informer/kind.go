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

// KindOptions is what informers of one kind have otherwise than their factory. A field with its
// zero value changes nothing; any other one takes the place of what the factory, or an earlier
// KindOptions, has. Only Indexes add to each other.
type KindOptions[T object.Object] struct {
	// Name is what the informer is called: WithName.
	Name string
	// Namespaces are those that are read: WithNamespaces. One "" means all of them. A list that is
	// empty but not nil is an error, and so is any for a cluster-scoped kind.
	Namespaces []string
	// LabelSelector restricts the objects: WithLabelSelector. labels.Everything() takes back that
	// of the factory.
	LabelSelector labels.Selector
	// FieldSelector restricts the objects: WithFieldSelector. fields.Everything() takes back that
	// of the factory.
	FieldSelector fields.Selector
	// Transform is what each object passes through before anyone sees it: WithTransform.
	Transform func(obj T) (T, error)
	// Indexes are kept besides those that the kind has anyway: WithIndexes.
	Indexes []store.Indexer[T]
	// ResyncPeriod is how often handlers are called with every object: WithResyncPeriod, which also
	// takes back that of the factory, if given 0 in Options.
	ResyncPeriod time.Duration
	// ErrorHandler is told of failures: WithErrorHandler.
	ErrorHandler func(informer string, err error)
	// Options are any others that For takes. They come after the fields.
	Options []Option
}

// WithKind gives the informers of one kind, a resource whose objects have the Go type T, defaults
// of their own. Those of the factory apply to them where options says nothing, wherever in
// NewFactory's arguments they stand; options given to For, or to Kind.With, override both. Given
// twice for one kind, the later fields win. Only NewFactory takes it. Generated code has one such
// function for each kind, with the resource filled in.
//
// For with another Go type for the resource is an error, with two exceptions: informers of
// *unstructured.Unstructured and of *metav1.PartialObjectMetadata live beside those of T, and have
// options of their own.
func WithKind[T object.Object](resource schema.GroupVersionResource, options KindOptions[T]) Option {
	return withKind(kindDefaults{resource, typeOf((*T)(nil)), eraseOptions(options)})
}

// Kind is one kind of a factory's informers. A generated XInformer is made of it. Its methods may
// be called by any goroutine at any time; the zero Kind has an Informer that only fails.
type Kind[T object.Object] struct{ erased kind }

// NewKind returns the kind whose informers are For(factory, resource, opts...). It isn't inlined,
// or every kind would compile it again.
//
//go:noinline
func NewKind[T object.Object](factory *Factory, resource schema.GroupVersionResource, opts ...Option) *Kind[T] {
	return &Kind[T]{kind{factory, resource, opts}}
}

// Informer returns the factory's informer of the kind; see For.
func (k *Kind[T]) Informer() *SharedIndexInformer[T] {
	return view[T](k.erased.entry(typeOf((*T)(nil))))
}

// With returns the kind with other options. Its Informer is another one if namespaces, selectors,
// shard or name are other ones: it has a store, handlers and a status of its own, and is started
// and stopped like any other informer of the factory.
func (k *Kind[T]) With(options KindOptions[T]) *Kind[T] {
	return &Kind[T]{k.erased.with(eraseOptions(options))}
}

// --- private from here ---

// eraseOptions returns the options that o stands for. It is no method, or every kind would compile
// it.
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
		opts = append(opts, WithNamespaces(namespaces...))
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

// kind is a Kind without its type, so that what it does is compiled once.
type kind struct {
	factory  *Factory
	resource schema.GroupVersionResource
	opts     []Option // never changed in place
}

func (k *kind) entry(t goType) *entry {
	return entryOf(k.factory, k.resource, t, k.opts)
}

func (k *kind) with(opts []Option) kind {
	return kind{k.factory, k.resource, append(k.opts[:len(k.opts):len(k.opts)], opts...)}
}

// kindDefaults are what WithKind has given a factory.
type kindDefaults struct {
	resource   schema.GroupVersionResource
	objectType goType
	opts       []Option
}

// withKind checks the options already for the factory, which may never have an informer of the
// kind. It isn't inlined, or each package would compile what it returns.
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

// applyKind applies what WithKind has given for the informers of one kind. It fails if that was
// meant for other objects.
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

// goType is a reflect.Type, under a name that has only one method. The compiler compiles what the
// methods of a type return anew in each package that can reach it, and each package of generated
// code can reach this one.
type goType interface{ String() string }

// typeOf returns the type that pointer points to. It isn't inlined, for the same reason.
//
//go:noinline
func typeOf(pointer any) goType { return reflect.TypeOf(pointer).Elem() }

var metadataType, anyType = typeOf((**metav1.PartialObjectMetadata)(nil)), typeOf((*object.Object)(nil))

// forAnyKind reports whether objects of type t may be of any kind.
func forAnyKind(t goType) bool {
	return t == metadataType || t.(reflect.Type).Implements(reflect.TypeFor[runtime.Unstructured]())
}
