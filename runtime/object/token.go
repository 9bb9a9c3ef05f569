// SPDX-License-Identifier: Apache-2.0

package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Token identifies a write that an API server has answered, so that a cache can be asked whether it
// has it: informer.SharedIndexInformer.AwaitToken waits for that. The zero Token is of no write.
// Tokens are comparable.
type Token struct {
	// Resource is what was written, in the version that the request had. A cache may read another
	// version of the resource; resourceVersions are the same in all of them.
	Resource schema.GroupVersionResource
	// Key and UID are the object's.
	Key Key
	UID types.UID
	// ResourceVersion is the version that the write has made. A write that changed nothing made
	// none: then it is the version that the object had before, which a cache may have already.
	ResourceVersion string
	// Gone means that the object exists no longer, by a delete or by the write that took its last
	// finalizer away. Servers don't answer with the version of such a change, so ResourceVersion is
	// the last one before it that is known, and it is the end of the object of this UID that can be
	// waited for. A delete that finalizers or a grace period put off is an update: Gone is false.
	Gone bool
}

// TokenOf returns the token of a create, update or patch of resource. written is the object that
// the server has answered with, whichever client has sent the request. It must not be nil.
//
// The result is Gone if written is being deleted and neither a finalizer nor a grace period keeps
// it. Then the server has removed it, and has answered with its last state. A namespace in such a
// state isn't Gone, because it has finalizers of another kind, in its spec.
//
// A delete has no such answer. If its object has no finalizers, the token is TokenOf(resource,
// deleted) with Gone set, where deleted is any state of the object that was read before.
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
