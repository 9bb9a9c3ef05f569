// SPDX-License-Identifier: Apache-2.0

package writer

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Options configure a Writer. The zero value makes a plain writer.
type Options struct {
	// FieldManager is the owner of written fields in metadata.managedFields. "" leaves it to the
	// server, which takes the first part of the user agent. Apply and ApplyStatus then fail, and so
	// does Patch with types.ApplyPatchType, because an apply needs a name that stays the same.
	FieldManager string
	// Force lets an apply take over fields of other managers. Without it, such an apply fails with
	// a conflict that names them. A controller that owns the fields should set it.
	Force bool
	// DryRun lets the server check each write and answer it, without storing anything. Such writes
	// return the zero Token.
	DryRun bool
	// OnWrite, if not nil, is called after each successful write, with the context of the call and
	// the token, on the caller's goroutine, before the call returns. controller.Wrote is made for
	// it. It is not called for dry runs, nor if nothing was sent.
	OnWrite func(ctx context.Context, token object.Token)
	// Kind is the objects' kind. "" means the name of the Go type, as in API packages; objects of
	// types that hold any kind then need one of their own.
	Kind string
	// NewObject is as in [source.Options].
	NewObject func() object.Object
}

// Writer writes the objects of one resource, in all namespaces. It is safe for use by several
// goroutines at once.
//
// The returned object is the caller's own. Arguments are not changed, so they may come from a
// cache. With an error, a method returns the zero T and the zero Token.
type Writer[T object.Object] struct {
	r *resource

	_ [0]func() // not comparable: otherwise every kind would compile a comparison
}

// New makes a writer of the resource gvr with objects of type T. It sends no request.
//
// It fails if c is nil, if gvr has no version or resource, if T is not a pointer to a struct and
// opts has no NewObject, and if NewObject returns nil or something other than a pointer that is a
// T.
//
//go:noinline
func New[T object.Object](c *source.Client, gvr schema.GroupVersionResource, opts Options) (*Writer[T], error) {
	r, err := newResource(c, gvr, reflect.TypeFor[T](), opts)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{r: r}, nil
}

// String returns the resource, as in "widgets.samples.io/v1", and the options for writing.
func (w *Writer[T]) String() string { return w.resource().String() }

// Get reads an object from the server, never from a cache. The error for a missing object satisfies
// apierrors.IsNotFound.
func (w *Writer[T]) Get(ctx context.Context, key object.Key) (T, error) {
	obj, _, err := typed[T](w.resource().get(ctx, key))
	return obj, err
}

// Create creates obj. Its resourceVersion must be empty; its name may be, if it has a GenerateName.
// If an object of this name exists, the error satisfies apierrors.IsAlreadyExists.
func (w *Writer[T]) Create(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.resource().create(ctx, obj))
}

// Update replaces the object by obj, except for its status if the resource has a status
// subresource. obj must be a whole object: a field it lacks, or its Go type lacks, is removed.
//
// If the object was written since obj was read, the error satisfies apierrors.IsConflict.
// [Writer.Mutate] tries again, and a patch without a resourceVersion doesn't conflict. An obj
// without a resourceVersion replaces any state, or creates the object, if the kind is built in and
// the server lets it; custom resources are refused as invalid.
func (w *Writer[T]) Update(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.resource().update(ctx, obj, ""))
}

// UpdateStatus replaces the status by obj's. Of a custom resource it changes nothing else. With the
// status of some built-in kinds, such as Pods, servers write annotations, labels and finalizers,
// too. Otherwise it is like Update. If the status is no subresource, the server answers "not
// found".
func (w *Writer[T]) UpdateStatus(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.resource().update(ctx, obj, status))
}

// Mutate updates the object by change, which is called with a copy of obj. If change leaves the
// copy as it was, Mutate sends nothing and returns the copy. If the object was written since obj
// was read, Mutate reads it from the server and calls change again with that state, up to 10 times
// in all: at once after the first conflict, then after waits of 10 ms that double, up to a second,
// each longer or shorter by up to a half. So change should decide by its argument alone.
//
// An error of change is returned unchanged. If each attempt conflicts, Mutate returns the last
// conflict. It also returns the conflict if the object was deleted and another one has its name
// now.
func (w *Writer[T]) Mutate(ctx context.Context, obj T, change func(obj T) error) (T, object.Token, error) {
	return typed[T](w.resource().mutate(ctx, obj, "", erase(change)))
}

// MutateStatus is Mutate for the status. Changes of the spec are not written; metadata are as in
// UpdateStatus.
func (w *Writer[T]) MutateStatus(ctx context.Context, obj T, change func(obj T) error) (T, object.Token, error) {
	return typed[T](w.resource().mutate(ctx, obj, status, erase(change)))
}

// Patch changes an object by a patch in one of the forms of package types: a merge patch (RFC
// 7386), a JSON patch (RFC 6902), a strategic merge patch, for built-in kinds only, or the
// configuration of an apply. It applies to any state of the object, unless its data has a
// resourceVersion.
func (w *Writer[T]) Patch(ctx context.Context, key object.Key, patchType types.PatchType, data []byte) (T, object.Token, error) {
	return typed[T](w.resource().patch(ctx, key, "", patchType, data))
}

// PatchStatus is Patch for the status.
func (w *Writer[T]) PatchStatus(ctx context.Context, key object.Key, patchType types.PatchType, data []byte) (T, object.Token, error) {
	return typed[T](w.resource().patch(ctx, key, status, patchType, data))
}

// Apply sets the fields of obj by server-side apply, and creates the object if it isn't there.
// Fields that this field manager applied before and obj lacks are removed, unless another manager
// owns them, too; all others stay.
//
// obj is a new object with only the program's fields. Zero-valued struct fields are not sent, so
// that unset fields are not claimed. Hence a zero can be applied only where the Go type has a
// pointer. [Writer.ApplyConfiguration] can apply any value.
//
// If other managers own some of the fields with other values, the error satisfies
// apierrors.IsConflict, unless Options have Force. To a server, fields written by Update, Mutate or
// Patch belong to another manager, even under the same name.
//
// If obj has a UID, Apply conflicts, and changes nothing, when the object was deleted or another
// one has its name. A resourceVersion refuses other versions of the object, but not its creation.
func (w *Writer[T]) Apply(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.resource().apply(ctx, obj, ""))
}

// ApplyStatus is Apply for the status. The object must exist. Servers ignore the UID of obj here,
// but not its resourceVersion.
func (w *Writer[T]) ApplyStatus(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.resource().apply(ctx, obj, status))
}

// Delete deletes the object with obj's UID, not another one of the same name. So obj must have a
// UID and a resourceVersion, like any object from the server; use Get if only the name is known.
// The preconditions of opts may add a resourceVersion: then only that state is deleted.
//
// If finalizers or a grace period keep the object when Delete returns, the token is that of an
// update. Otherwise the token is Gone.
//
// If no object of this name exists, the error satisfies apierrors.IsNotFound; if another one does,
// or a precondition isn't met, apierrors.IsConflict.
func (w *Writer[T]) Delete(ctx context.Context, obj T, opts metav1.DeleteOptions) (object.Token, error) {
	return w.resource().delete(ctx, obj, opts)
}

// AddFinalizer adds a finalizer to the object. If obj already has it, AddFinalizer sends nothing
// and returns a copy of obj. The request is a merge patch of the finalizers alone. Conflicts are
// treated as in Mutate. The server refuses new finalizers once the object is being deleted.
func (w *Writer[T]) AddFinalizer(ctx context.Context, obj T, finalizer string) (T, object.Token, error) {
	return typed[T](w.resource().finalize(ctx, obj, finalizer, true))
}

// RemoveFinalizer removes a finalizer from the object, as AddFinalizer adds it. If this was the
// last finalizer of an object being deleted, the object is gone when RemoveFinalizer returns, and
// the token is Gone.
func (w *Writer[T]) RemoveFinalizer(ctx context.Context, obj T, finalizer string) (T, object.Token, error) {
	return typed[T](w.resource().finalize(ctx, obj, finalizer, false))
}

// resource returns the resource, or uninitialized for a Writer not made by New.
func (w *Writer[T]) resource() *resource {
	if w == nil || w.r == nil {
		return uninitialized
	}
	return w.r
}

// typed adds the type to the results of a write.
//
//go:noinline
func typed[T object.Object](obj object.Object, token object.Token, err error) (T, object.Token, error) {
	t, _ := obj.(T)
	return t, token, err
}

// erase removes the type from a function of Mutate. nil stays nil.
//
//go:noinline
func erase[T object.Object](change func(T) error) func(object.Object) error {
	if change == nil {
		return nil
	}
	return func(obj object.Object) error { return change(obj.(T)) }
}

func (r *resource) fail(call string, key object.Key, err error) error {
	if key.Name != "" {
		call += " of " + key.String()
	}
	return fmt.Errorf("writer of %s: %s: %w", r, call, err)
}
