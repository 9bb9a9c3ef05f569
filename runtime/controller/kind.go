// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// ReconcileObject is a [Reconcile] with the object as its argument: a copy of the informer's, for
// the function to change. It is not called for objects already gone. Cleanup needs a finalizer, and
// happens when obj has a deletion timestamp.
type ReconcileObject[T object.Object] func(ctx context.Context, obj T) (Result, error)

// Methods are the methods of generated XInformers for controllers. [Kind] implements them.
type Methods[T object.Object] interface {
	// Reconcile returns a controller for the kind's objects; see [Kind.Reconcile].
	Reconcile(name string, reconcile ReconcileObject[T], options ...Option) (*Controller, error)
	// Resource returns the kind's resource.
	Resource() schema.GroupVersionResource
	// GroupVersionKind returns the kind's name, for metav1.NewControllerRef.
	GroupVersionKind() schema.GroupVersionKind
}

// Kind is a [factories.Kind] that makes controllers of its objects. Generated XInformers embed one.
// Any goroutine may call its methods at any time.
type Kind[T object.Object] struct {
	*factories.Kind[T]
	erased erasedKind
}

// erasedKind is the part of a Kind without its type parameter, which is compiled once.
type erasedKind struct {
	resource      schema.GroupVersionResource
	gvk           schema.GroupVersionKind
	clusterScoped bool
}

// NewKind returns the kind with the informers For(factory, resource, opts...). name is the kind's
// name, as in the kind field of its objects. namespaced is false for cluster-scoped kinds.
//
//go:noinline
func NewKind[T object.Object](factory *factories.Factory, resource schema.GroupVersionResource, name string, namespaced bool, opts ...informer.Option) *Kind[T] {
	if !namespaced {
		opts = append(opts[:len(opts):len(opts)], factories.WithClusterScope())
	}
	return &Kind[T]{factories.NewKind[T](factory, resource, opts...), erasedKind{resource, resource.GroupVersion().WithKind(name), !namespaced}}
}

// With returns the kind with other options; see [factories.Kind.With]. Its controllers reconcile
// the objects these select.
func (k *Kind[T]) With(options factories.KindOptions[T]) *Kind[T] {
	return &Kind[T]{k.Kind.With(options), k.erased}
}

// GroupVersionKind returns the kind's name, for metav1.NewControllerRef.
func (k *Kind[T]) GroupVersionKind() schema.GroupVersionKind { return k.erased.gvk }

// Reconcile returns a controller that calls a function with each changed object of the kind, and
// with those queued by the options. It starts nothing: [Controller.Run] does, informers included.
//
// Errors are those of [New], and name the invalid option.
func (k *Kind[T]) Reconcile(name string, reconcile ReconcileObject[T], options ...Option) (*Controller, error) {
	return k.erased.reconcile(name, typeOf((*T)(nil)), erase(reconcile), (*erasedInformer)(k.Informer()), options)
}

func (k *erasedKind) reconcile(name string, objectType goType, reconcile ReconcileObject[object.Object], from *erasedInformer, options []Option) (*Controller, error) {
	p := plan{kind: &kind{GroupKind: k.gvk.GroupKind(), clusterScoped: k.clusterScoped, objectType: objectType, informer: from}}
	err := p.apply(options)
	self := For(from, p.filters...)
	self.kind, p.kind = p.kind, nil
	p.watches = append([]Watch{self}, p.watches...)
	if err == nil {
		err = p.resolve()
	}
	var get Reconcile
	if reconcile != nil {
		get = func(ctx context.Context, key object.Key) (Result, error) {
			obj, ok := from.Store().Snapshot().Get(key)
			if !ok {
				return Result{}, nil
			}
			return reconcile(ctx, obj.DeepCopyObject().(object.Object))
		}
	}
	return newController(name, get, &p, err)
}

// Resource returns the kind's resource.
func (k *Kind[T]) Resource() schema.GroupVersionResource { return k.erased.resource }

// Writer returns a writer of a kind. Its OnWrite defaults to [Wrote], so the next reconcile of a
// key sees the writes of the last one. The error is that of [writer.New].
func Writer[T object.Object](client *source.Client, of Methods[T], options writer.Options) (*writer.Writer[T], error) {
	if options.Kind == "" {
		options.Kind = of.GroupVersionKind().Kind
	}
	if options.OnWrite == nil {
		options.OnWrite = Wrote
	}
	return writer.New[T](client, of.Resource(), options)
}

// erase removes the type from a function. nil stays nil.
//
//go:noinline
func erase[T object.Object](reconcile ReconcileObject[T]) ReconcileObject[object.Object] {
	if reconcile == nil {
		return nil
	}
	return func(ctx context.Context, obj object.Object) (Result, error) {
		return reconcile(ctx, obj.(T))
	}
}
