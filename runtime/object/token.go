// SPDX-License-Identifier: Apache-2.0

package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Token identifies a write that an API server has answered. informer.SharedIndexInformer.AwaitToken
// waits until a cache has it. The zero Token is of no write. Tokens are comparable.
type Token struct {
	// Resource is the written resource, in the version of the request. A cache may read another
	// version of it; resourceVersions are the same in all of them.
	Resource schema.GroupVersionResource
	// Key and UID are the object's.
	Key Key
	UID types.UID
	// ResourceVersion is the version made by the write. A write without changes makes none: then it
	// is the object's version before, which a cache may have already.
	ResourceVersion string
	// Gone reports that the object no longer exists, after a delete or the write that removed its
	// last finalizer. Servers don't return the version of such a change: ResourceVersion is the
	// last known one before it, and AwaitToken waits for the end of the object of this UID. A
	// delete delayed by finalizers or a grace period is an update: Gone is false.
	Gone bool
}

// TokenOf returns the token of a create, update or patch of resource, sent by any client. written
// is the object in the server's response; it must not be nil.
//
// The result is Gone if written is being deleted, and neither a finalizer nor a grace period keeps
// it: then the server has removed it, and written is its last state. A namespace in such a state
// isn't Gone, because its spec has finalizers of another kind.
//
// The response to a delete has no such object. If the deleted object has no finalizers, the token
// is TokenOf(resource, deleted) with Gone set, where deleted is any state of the object read
// before.
func TokenOf(resource schema.GroupVersionResource, written metav1.Object) Token {
	grace := written.GetDeletionGracePeriodSeconds()
	return Token{
		Resource:        resource,
		Key:             KeyOf(written),
		UID:             written.GetUID(),
		ResourceVersion: written.GetResourceVersion(),
		Gone: written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0 && (grace == nil || *grace == 0) &&
			resource.GroupResource() != schema.GroupResource{Resource: "namespaces"},
	}
}
