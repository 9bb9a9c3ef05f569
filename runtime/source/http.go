// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Options restricts a collection. The zero value means all objects of the resource in all
// namespaces.
type Options struct {
	// Namespace restricts a namespaced resource to one namespace; "" means all. It must stay empty
	// for a cluster-scoped resource, whose server answers 404 otherwise.
	Namespace string
	// LabelSelector is in the form that labels.Selector.String writes; "" selects everything.
	LabelSelector string
	// FieldSelector is in the form that fields.Selector.String writes; "" selects everything.
	FieldSelector string
	// Kind is the kind that the objects must have. "" means the name of the Go type, as in API
	// packages; for types that hold any kind, "" accepts the kind that the server sends. Objects
	// carry it: a *metav1.PartialObjectMetadata has this kind and the resource's version. With ""
	// it is a PartialObjectMetadata of meta.k8s.io/v1, whichever kind the server has sent.
	Kind string
	// Formats are the formats asked for, in order of preference; the server chooses. nil means
	// Protobuf if T has it, then JSON. CBOR is asked for only if it is named here. If a server
	// refuses all of them (406), it is asked for JSON from then on, if JSON is among them.
	Formats []Format
	// DropManagedFields leaves metadata.managedFields out of objects: it is skipped in the
	// response, not decoded.
	DropManagedFields bool
	// DropAnnotations are keys of metadata.annotations that are left out of objects, such as
	// "kubectl.kubernetes.io/last-applied-configuration".
	DropAnnotations []string
	// ShardSelector restricts the collection to the objects whose UID or namespace hashes into a
	// range (KEP-5866); "" is everything. The form is shardRange(object.metadata.uid,
	// '0x0000000000000000', '0x8000000000000000'), several of them joined by ||. A server that
	// doesn't know the parameter sends all objects. The result is the same, only with more bytes on
	// the wire, because the source applies the selector to all objects, too.
	ShardSelector string
}

// HTTP lists and watches one collection of an API server. It implements [Source] and is safe for
// use by several goroutines at once; each call makes one request, or two if the server refuses the
// formats of the first.
type HTTP[T object.Object] struct {
	// Set once at construction.
	c *collection
}

// New makes the source of the resource gvr, whose objects decode into the struct that T points to.
// It sends no request.
//
// It fails if c is nil, if gvr has no version or resource, if opts asks for a format that T doesn't
// have or has an invalid ShardSelector, and if T is not a pointer to a struct. [NewFunc] makes
// sources of other types.
//
// If T is *metav1.PartialObjectMetadata, the server is asked for the metadata of the objects only,
// whatever the resource.
func New[T object.Object](c *Client, gvr schema.GroupVersionResource, opts Options) (*HTTP[T], error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("source.New of %s: %s is not a pointer to a struct; use NewFunc", describe(gvr), t)
	}
	elem := t.Elem()
	return newHTTP("New", c, gvr, func() T { return reflect.New(elem).Interface().(T) }, opts)
}

// NewFunc makes the source of the resource gvr, whose objects decode into the values that newObject
// returns. newObject must return a new object at each call, always of the same type. Several
// goroutines may call it at once, also during one List or Watch. T may be an interface, such as
// object.Object. It sends no request.
//
// It fails if c or newObject is nil, if gvr has no version or resource, if opts asks for a format
// that the type doesn't have or has an invalid ShardSelector, and if newObject returns nil or
// something other than a pointer.
func NewFunc[T object.Object](c *Client, gvr schema.GroupVersionResource, newObject func() T, opts Options) (*HTTP[T], error) {
	if newObject == nil {
		return nil, fmt.Errorf("source.NewFunc of %s: newObject is nil", describe(gvr))
	}
	return newHTTP("NewFunc", c, gvr, newObject, opts)
}

func newHTTP[T object.Object](call string, c *Client, gvr schema.GroupVersionResource, newObject func() T, opts Options) (*HTTP[T], error) {
	// The closure is the one place where the type is erased; everything below is compiled once.
	col, err := newCollection(c, gvr, func() object.Object { return newObject() }, opts)
	if err != nil {
		return nil, fmt.Errorf("source.%s of %s: %w", call, describe(gvr), err)
	}
	return &HTTP[T]{c: col}, nil
}

// In returns the source of the same objects in another namespace; "" means all. It sends no
// request. Objects from both share their equal parts (see ReadOnly), and both sources use the same
// decoders. So a source for each of many namespaces costs little.
//
// It fails if the namespace can't be part of a path.
func (h *HTTP[T]) In(namespace string) (*HTTP[T], error) {
	c, err := h.c.in(namespace)
	if err != nil {
		return nil, fmt.Errorf("source.HTTP.In of %s: %w", describe(h.c.gvr), err)
	}
	return &HTTP[T]{c: c}, nil
}

// Resource returns the resource that the source reads.
func (h *HTTP[T]) Resource() schema.GroupVersionResource { return h.c.gvr }

// String returns the resource and the restrictions, for logs and status: `widgets.samples.io/v1 in
// namespace "shop"`.
func (h *HTTP[T]) String() string { return h.c.String() }

// List implements [Source]. It reads one page; see the package documentation for its errors.
// Objects that were handed over before an error are complete.
func (h *HTTP[T]) List(ctx context.Context, opts ListOptions, item func(T) error) (ListResult, error) {
	if item == nil {
		return ListResult{}, errors.New("source.HTTP.List: item is nil")
	}
	return h.c.list(ctx, opts, func(obj object.Object) error { return item(obj.(T)) })
}

// Watch implements [Source]. It reads events until the server ends the stream; see the package
// documentation for its errors. Events that were handed over before an error are complete.
func (h *HTTP[T]) Watch(ctx context.Context, opts WatchOptions, opened func(), event func(Event[T]) error) error {
	if event == nil {
		return errors.New("source.HTTP.Watch: event is nil")
	}
	return h.c.watch(ctx, opts, opened, func(e Event[object.Object]) error {
		typed := Event[T]{Type: e.Type, ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd, More: e.More}
		if e.Object != nil {
			typed.Object = e.Object.(T)
		}
		return event(typed)
	})
}

var _ Source[object.Object] = (*HTTP[object.Object])(nil)

// describe names a resource as people write it: "pods/v1", "widgets.samples.io/v1".
func describe(gvr schema.GroupVersionResource) string {
	return gvr.GroupResource().String() + "/" + gvr.Version
}
