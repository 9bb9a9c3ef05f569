// SPDX-License-Identifier: Apache-2.0

// Package writer writes objects, over the client that informers read with.
//
// A [Writer] has a controller's operations on the objects of one resource: Create, Update, Patch,
// Apply, Delete, the status subresource, finalizers, and changes retried after a conflict:
//
//	widgets, err := writer.New[*Widget](client, resource, writer.Options{FieldManager: "shop"})
//	…
//	_, token, err := widgets.MutateStatus(ctx, cached, func(w *Widget) error {
//		w.Status.Phase = "Running"
//		return nil
//	})
//	…
//	err = cache.AwaitToken(ctx, token) // cache is an informer
//
// It needs no scheme and no clientset.
//
// # Which call
//
//	a new object                          Create; for one of a fixed name Apply
//	the status of an object in the cache  MutateStatus
//	some fields of an object of mine      Mutate
//	fields of an object of others         ApplyConfiguration or Apply, with only these fields
//	an object that I was given, whole     Update, UpdateStatus
//	an object that I don't want           Delete
//	the end of an object is mine to do    AddFinalizer, RemoveFinalizer
//	an object, and the cache won't do     Get
//
// An update sends the whole object, as the Go type has it, and loses fields the Go type lacks; a
// patch or an apply leaves them alone.
//
// # Tokens
//
// A write returns the object in the server's answer, and an [object.Token], which stands for the
// write. A controller whose next decision needs the write in its cache waits for the token with
// informer.SharedIndexInformer.AwaitToken.
//
// Options.OnWrite gets each token. With controller.Wrote there, a controller waits by itself: the
// next reconcile of the key begins when the informers have the writes.
//
//   - A write that changed nothing has the resourceVersion from before it, usually in the cache
//     already, so waiting for its token ends at once. The same holds for a Mutate that sent
//     nothing.
//   - The token of a removal is Gone. Waiting for it ends when no object of the UID is in the
//     cache.
//   - An informer with selectors has no event for an object that matches them neither before the
//     write nor after it. Don't wait there for such a token, or only with a deadline.
//   - A failed write has no token. A conflict means that the cache is behind, but not by how much;
//     wait for the next event of the object.
//   - For writes by other clients, [object.TokenOf] makes tokens.
//
// # Formats
//
// Types with protobuf methods, which are those of Kubernetes itself, are sent and answered in
// protobuf; all others in JSON, as by [source.HTTP.Do]. Patches are in the format of their data.
//
// # Errors
//
// A server's refusal is an *apierrors.StatusError, unwrapped, for the functions of apierrors:
// IsConflict, IsNotFound, IsAlreadyExists, IsInvalid and others. Package
// [github.com/informer-gen/informer-gen/runtime/reason] has the reasons common to reads and writes,
// and the wait requested by a server. When a context is done, the error is context.Cause. Then, as
// after any failure of the connection, the server may have done the write. A [source.DecodeError]
// means that it has, but its answer is unreadable. Wrong use returns an error that names the call.
//
// # Blocking and goroutines
//
// A call blocks until the server has answered or the context is done. It runs on the caller's
// goroutine alone, and so do functions passed to it. Nothing is paced, and writes are repeated only
// after conflicts in Mutate, MutateStatus, AddFinalizer and RemoveFinalizer, and when a server
// refuses protobuf. Retries of other failures are the caller's job.
package writer
