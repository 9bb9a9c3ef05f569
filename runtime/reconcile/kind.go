// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// Func brings what an object stands for to the state that it should have; see
// [controller.Reconcile]. obj is a copy of the object as the informer has it, which the function
// may change. It is not called for an object that is gone: what has to happen at the end of an
// object needs a finalizer, and is done when obj has a deletion timestamp.
type Func[T object.Object] func(ctx context.Context, obj T) (controller.Result, error)

// Methods are what generated XInformers have for controllers. [Kind] has them.
type Methods[T object.Object] interface {
	// Reconcile returns a controller of the objects of the kind; see [Kind.Reconcile].
	Reconcile(name string, reconcile Func[T], options ...Option) (Controller, error)
	// Resource returns the resource that the objects of the kind are.
	Resource() schema.GroupVersionResource
	// GroupVersionKind returns the kind's name, as metav1.NewControllerRef takes it.
	GroupVersionKind() schema.GroupVersionKind
}

// Controller is a [controller.Controller] of the objects of a kind. It is an interface because
// each generated package would compile what a type with its methods needs.
type Controller interface {
	Name() string
	Run(ctx context.Context) error
	Enqueue(keys ...object.Key)
	SetConcurrency(n int) error
	Status() controller.Status
	StatusOf(key object.Key) (workqueue.KeyStatus[object.Key], bool)
}

// Kind is a [factories.Kind] whose objects a program may have controllers of. Generated XInformers
// have one. Its methods may be called by any goroutine at any time.
type Kind[T object.Object] struct {
	*factories.Kind[T]
	erased kind
}

// NewKind returns the kind with the informers For(factory, resource, opts...). name is that of the
// kind, as in the field kind of its objects.
//
//go:noinline
func NewKind[T object.Object](factory *factories.Factory, resource schema.GroupVersionResource, name string, opts ...informer.Option) *Kind[T] {
	return &Kind[T]{factories.NewKind[T](factory, resource, opts...), newKind(resource, name, (*T)(nil), false)}
}

// NewClusterKind is [NewKind] for a kind whose objects are in no namespace.
//
//go:noinline
func NewClusterKind[T object.Object](factory *factories.Factory, resource schema.GroupVersionResource, name string, opts ...informer.Option) *Kind[T] {
	opts = append(opts[:len(opts):len(opts)], factories.WithClusterScope())
	return &Kind[T]{factories.NewKind[T](factory, resource, opts...), newKind(resource, name, (*T)(nil), true)}
}

// With returns the kind with other options; see [factories.Kind.With]. A controller of it
// reconciles what these select.
func (k *Kind[T]) With(options factories.KindOptions[T]) *Kind[T] {
	return &Kind[T]{k.Kind.With(options), k.erased}
}

// GroupVersionKind returns the kind's name. An object w owns others that have the reference
// metav1.NewControllerRef(w, k.GroupVersionKind()).
func (k *Kind[T]) GroupVersionKind() schema.GroupVersionKind { return k.erased.gvk }

// Reconcile returns a controller that calls a function with each object of the kind that changes,
// and with those that the options name. It starts nothing: [controller.Controller.Run] does, the
// informers included. An object that is gone when its turn comes is passed over.
//
// The errors are those of [controller.New], and say which option is wrong.
func (k *Kind[T]) Reconcile(name string, reconcile Func[T], options ...Option) (Controller, error) {
	return k.erased.reconcile(name, erase(reconcile), (*erasedInformer)(k.Informer()), options)
}

// Resource returns the resource that the objects of the kind are.
func (k *Kind[T]) Resource() schema.GroupVersionResource { return k.erased.resource }

// Writer returns a writer of a kind. It is not a method, so that only packages that write a kind
// compile what writes it. The error is that of [writer.New].
func Writer[T object.Object](client *source.Client, of Methods[T], options writer.Options) (*writer.Writer[T], error) {
	if options.Kind == "" {
		options.Kind = of.GroupVersionKind().Kind
	}
	return writer.New[T](client, of.Resource(), options)
}

// erase takes the type from a function. nil stays nil.
//
//go:noinline
func erase[T object.Object](reconcile Func[T]) Func[object.Object] {
	if reconcile == nil {
		return nil
	}
	return func(ctx context.Context, obj object.Object) (controller.Result, error) {
		return reconcile(ctx, obj.(T))
	}
}
