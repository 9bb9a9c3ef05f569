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

// Options say how a Writer writes. The zero value is a plain writer.
type Options struct {
	// FieldManager is the name under which the server records in metadata.managedFields which
	// fields were written. "" leaves it to the server, which takes the first part of the user
	// agent; then Apply and ApplyStatus fail, and so does Patch with types.ApplyPatchType, because
	// an apply needs a name that stays the same.
	FieldManager string
	// Force lets an apply take fields over that belong to other managers. Without it, such an apply
	// fails with a conflict that names them. A controller that owns the fields should set it.
	Force bool
	// DryRun lets the server check each write and answer it, without storing anything. The tokens
	// of such writes are the zero Token.
	DryRun bool
	// OnWrite, unless nil, is called after each write that the server has done, with the context of
	// the call and the token, on the caller's goroutine, before the call returns. controller.Wrote
	// is made for it: then the next reconcile of the key waits until the informers have the write.
	// It is not called for dry runs, nor if nothing was sent.
	OnWrite func(ctx context.Context, token object.Token)
	// Kind is the kind of the objects. "" means the name of the Go type, as in API packages;
	// objects of types that hold any kind then need one of their own.
	Kind string
	// NewObject makes the objects: a new one at each call, always of the same type, which must be a
	// pointer. Several goroutines may call it at once. nil means zero values of the struct that T
	// points to. It is needed if T is an interface, such as object.Object.
	NewObject func() object.Object
}

// Writer writes the objects of one resource, in all namespaces. It is safe for use by several
// goroutines at once.
//
// Each method blocks until the server has answered, on the caller's goroutine. It starts no other,
// except those that net/http has for its connections. The object that it returns is the caller's
// own, and the objects that it is given are not changed, so they may come from a cache. With an
// error it returns the zero T and the zero Token.
type Writer[T object.Object] struct {
	r *resource

	_ [0]func() // not comparable: otherwise every kind would compile a comparison
}

// New makes the writer of the resource gvr, whose objects are of type T. It sends no request.
//
// It fails if c is nil, if gvr has no version or resource, if T is not a pointer to a struct and
// opts has no NewObject, and if NewObject returns nil or something other than a pointer that is
// a T.
//
//go:noinline
func New[T object.Object](c *source.Client, gvr schema.GroupVersionResource, opts Options) (*Writer[T], error) {
	r, err := newResource(c, gvr, reflect.TypeFor[T](), opts)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{r: r}, nil
}

// String returns the resource, as in "widgets.samples.io/v1", and how it is written.
func (w *Writer[T]) String() string { return w.made().String() }

// Get reads an object from the server, never from a cache. A controller reads its cache; it needs
// this only before a decision that a stale state would make wrong. The error for a missing object
// satisfies apierrors.IsNotFound.
func (w *Writer[T]) Get(ctx context.Context, key object.Key) (T, error) {
	obj, _, err := typed[T](w.made().get(ctx, key))
	return obj, err
}

// Create creates obj. Its name may be empty if it has a GenerateName, and its resourceVersion must
// be. If there is an object of this name, the error satisfies apierrors.IsAlreadyExists.
func (w *Writer[T]) Create(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.made().create(ctx, obj))
}

// Update replaces the object by obj, apart from its status if the resource has that as a
// subresource. obj must be a whole object: a field that it lacks, also one that the Go type doesn't
// have, is removed. If the object was written since obj was read, the error satisfies
// apierrors.IsConflict: [Writer.Mutate] tries again, and a patch without a resourceVersion doesn't
// conflict. An obj without a resourceVersion replaces whatever state there is, or creates the
// object, if the server has its kind built in and lets it; custom resources are refused as invalid.
func (w *Writer[T]) Update(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.made().update(ctx, obj, ""))
}

// UpdateStatus replaces the status by that of obj. Of a custom resource it changes nothing else.
// With the status of some built-in kinds, such as Pods, servers write annotations, labels and
// finalizers, too. Otherwise it is like Update. A server answers all requests about a status that
// is no subresource with "not found".
func (w *Writer[T]) UpdateStatus(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.made().update(ctx, obj, status))
}

// Mutate updates the object by change, which is called with a copy of obj. If change leaves the
// copy as it was, Mutate sends nothing and returns the copy. If the object was written since obj
// was read, Mutate reads it from the server and calls change again with that state, up to 10 times
// in all: at once after the first conflict, then after waits of 10 ms that double, up to a second,
// each longer or shorter by up to a half. So change should decide by its argument alone.
//
// An error of change is returned as it is. If each attempt conflicts, the last conflict is
// returned. It is returned, too, if the object was deleted and another one has its name now.
func (w *Writer[T]) Mutate(ctx context.Context, obj T, change func(obj T) error) (T, object.Token, error) {
	return typed[T](w.made().mutate(ctx, obj, "", erase(change)))
}

// MutateStatus is Mutate for the status. Changes of the spec are not written; metadata are as in
// UpdateStatus.
func (w *Writer[T]) MutateStatus(ctx context.Context, obj T, change func(obj T) error) (T, object.Token, error) {
	return typed[T](w.made().mutate(ctx, obj, status, erase(change)))
}

// Patch changes an object by a patch in one of the forms that types names: a merge patch (RFC
// 7386), a JSON patch (RFC 6902), a strategic merge patch, which servers have for their built-in
// kinds only, or the configuration of an apply. A patch has no resourceVersion unless its data has
// one, so it applies to whatever state the object is in.
func (w *Writer[T]) Patch(ctx context.Context, key object.Key, form types.PatchType, data []byte) (T, object.Token, error) {
	return typed[T](w.made().patch(ctx, key, "", form, data))
}

// PatchStatus is Patch for the status.
func (w *Writer[T]) PatchStatus(ctx context.Context, key object.Key, form types.PatchType, data []byte) (T, object.Token, error) {
	return typed[T](w.made().patch(ctx, key, status, form, data))
}

// Apply makes the object have the fields of obj, by server-side apply, and creates it if it isn't
// there. Fields that this field manager applied before and obj lacks are removed, unless another
// manager owns them, too; all others stay.
//
// obj is a new object with only the fields that the program owns. A field of a struct that has its
// zero value is not sent, so that nothing is claimed that wasn't set. Hence a zero can be applied
// only where the Go type has a pointer. Client-go's apply configurations have pointers everywhere:
// encode one and use Patch with types.ApplyPatchType.
//
// If other managers own some of the fields with other values, the error satisfies
// apierrors.IsConflict, unless Options have Force. To a server, fields that Update, Mutate or Patch
// has written belong to another manager, even under the same name.
//
// If obj has a UID, Apply conflicts, and changes nothing, when the object was deleted or another
// one has its name. A resourceVersion refuses other versions of the object, but not its creation.
func (w *Writer[T]) Apply(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.made().apply(ctx, obj, ""))
}

// ApplyStatus is Apply for the status. The object must exist. Servers ignore the UID of obj here,
// but not its resourceVersion.
func (w *Writer[T]) ApplyStatus(ctx context.Context, obj T) (T, object.Token, error) {
	return typed[T](w.made().apply(ctx, obj, status))
}

// Delete deletes the object that obj is a state of: the one with its UID, not another one of the
// same name. So obj must have a UID and a resourceVersion, as an object from the server has; use
// Get if only the name is known. The preconditions of opts may add a resourceVersion: then only
// that state is deleted. Other options are the grace period and what happens to dependents.
//
// An object with finalizers, or with a grace period, is not gone yet when Delete returns: the token
// is that of an update. Otherwise the token is Gone.
//
// If there is no object of this name, the error satisfies apierrors.IsNotFound; if there is another
// one, or a precondition isn't met, apierrors.IsConflict.
func (w *Writer[T]) Delete(ctx context.Context, obj T, opts metav1.DeleteOptions) (object.Token, error) {
	return w.made().delete(ctx, obj, opts)
}

// AddFinalizer adds a finalizer to the object, unless it has it: then it sends nothing and returns
// a copy of obj. The request is a merge patch of the finalizers alone. Conflicts are treated as in
// Mutate. The server refuses new finalizers once the object is being deleted.
func (w *Writer[T]) AddFinalizer(ctx context.Context, obj T, finalizer string) (T, object.Token, error) {
	return typed[T](w.made().finalize(ctx, obj, finalizer, true))
}

// RemoveFinalizer removes a finalizer from the object, as AddFinalizer adds it. If the object is
// being deleted and this was its last finalizer, it is gone when RemoveFinalizer returns, and so
// the token says.
func (w *Writer[T]) RemoveFinalizer(ctx context.Context, obj T, finalizer string) (T, object.Token, error) {
	return typed[T](w.made().finalize(ctx, obj, finalizer, false))
}

// made returns what New has made, or unmade for a Writer that New hasn't made.
func (w *Writer[T]) made() *resource {
	if w == nil || w.r == nil {
		return unmade
	}
	return w.r
}

// typed gives the results of a write their type.
//
//go:noinline
func typed[T object.Object](obj object.Object, token object.Token, err error) (T, object.Token, error) {
	t, _ := obj.(T)
	return t, token, err
}

// erase takes the type from a function of Mutate. nil stays nil.
//
//go:noinline
func erase[T object.Object](change func(T) error) func(object.Object) error {
	if change == nil {
		return nil
	}
	return func(obj object.Object) error { return change(obj.(T)) }
}

// fail names the call and the object in an error of the caller's.
func (r *resource) fail(call string, key object.Key, err error) error {
	if key.Name != "" {
		call += " of " + key.String()
	}
	return fmt.Errorf("writer of %s: %s: %w", r, call, err)
}
