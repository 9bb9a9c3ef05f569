// SPDX-License-Identifier: Apache-2.0

package factories

import (
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// KindOptions are options of the informers of one kind. The fields stand for the options of package
// informer with their names, such as [informer.WithName]. A zero field changes nothing; any other
// replaces the value of the factory, or of an earlier KindOptions. Only Indexes are added to
// earlier ones.
type KindOptions[T object.Object] struct {
	Name string
	// Namespaces with a single "" means all of them. A list that is empty but not nil is an error,
	// and so is any list for a cluster-scoped kind.
	Namespaces []string
	// LabelSelector may be labels.Everything() to cancel the factory's.
	LabelSelector labels.Selector
	// FieldSelector may be fields.Everything() to cancel the factory's.
	FieldSelector fields.Selector
	Transform     func(obj T) (T, error)
	// Indexes are added to the kind's own.
	Indexes []store.AnyIndex[T]
	// ResyncPeriod can't cancel the factory's; WithResyncPeriod(0) in Options does.
	ResyncPeriod time.Duration
	ErrorHandler func(informer string, err error)
	// Options are any other options for [For], applied after the fields.
	Options []informer.Option
}

// WithKind sets defaults for the informers of one kind: a resource whose objects have the Go type
// T. It overrides the factory's defaults, wherever it stands in New's arguments. Options given to
// [For], or to [Kind.With], override both. If WithKind is given twice for one kind, the later
// fields win. Only [New] takes it. Generated code has one such function for each kind, with the
// resource filled in.
//
// For with another Go type for the resource is an error. The exceptions are
// *unstructured.Unstructured, *metav1.PartialObjectMetadata and projections (see [object.NoMeta]):
// a factory may have informers of these for the resource too, with options of their own.
func WithKind[T object.Object](resource schema.GroupVersionResource, options KindOptions[T]) informer.Option {
	return withKind(resource, settings.TypeOf((*T)(nil)), eraseOptions(options))
}

// Kind is one kind of a factory's informers. A generated XInformer has one. Its methods may be
// called by any goroutine at any time. The Informer of the zero Kind returns errors only.
type Kind[T object.Object] struct{ erased kind }

// NewKind returns the kind whose informers are For(factory, resource, opts...).
//
//go:noinline
func NewKind[T object.Object](factory *Factory, resource schema.GroupVersionResource, opts ...informer.Option) *Kind[T] {
	return &Kind[T]{kind{factory, resource, opts}}
}

// Informer returns the factory's informer of the kind; see [For].
func (k *Kind[T]) Informer() *informer.SharedIndexInformer[T] {
	return view[T](k.erased.member(settings.TypeOf((*T)(nil))))
}

// With returns the kind with other options. If the namespaces, selectors, shard or name differ, its
// Informer is another one of the factory, with its own store, handlers and status.
func (k *Kind[T]) With(options KindOptions[T]) *Kind[T] {
	return &Kind[T]{k.erased.with(eraseOptions(options))}
}

// WithClusterScope marks a kind as cluster-scoped, so the factory's namespaces do not apply to it.
// Generated code gives it for every cluster-scoped kind. In a factory with namespaces, your own
// call of [For] has to give it too; otherwise it makes another informer. Only For takes it; a
// namespace beside it is an error.
//
//go:noinline
func WithClusterScope() informer.Option {
	return settings.New("WithClusterScope", settings.InFor, (*settings.Settings).SetClusterScoped)
}
