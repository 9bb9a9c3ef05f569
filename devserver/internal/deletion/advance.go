// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// advance takes the next step for an object. An error means that it must be tried again.
func (g *Garbage) advance(ctx context.Context, uid types.UID) error {
	o := g.graph.get(uid)
	switch {
	case o == nil:
		return nil
	case o.waits(metav1.FinalizerOrphanDependents):
		return g.orphan(ctx, o)
	case o.waits(metav1.FinalizerDeleteDependents):
		return g.finishForeground(ctx, o)
	case o.deleting || len(o.owners) == 0:
		return nil
	}
	return g.collect(ctx, o)
}

// collect deletes an object without any owner left. If some owners are left, it removes the
// references to the others.
func (g *Garbage) collect(ctx context.Context, o *object) error {
	if g.settled(o) {
		return nil
	}
	client := o.resource.in(g.objects, o.namespace)
	now, err := client.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (now.UID != o.uid || now.DeletionTimestamp != nil) {
		return nil // an event says so soon
	}
	if err != nil {
		return err
	}
	var kept []metav1.OwnerReference
	waiting := false // an owner waits for this object to go first
	unseen := false  // an owner exists, but no event has reported it
	for _, ref := range now.OwnerReferences {
		there, seen, err := g.exists(ctx, ref, o.namespace)
		if err != nil {
			return err
		}
		unseen = unseen || there && !seen
		switch {
		case there && g.graph.get(ref.UID).waits(metav1.FinalizerDeleteDependents):
			waiting = true
		case there:
			kept = append(kept, ref)
		}
	}
	switch {
	case len(kept) == len(now.OwnerReferences) && unseen:
		return errUnseen // it may go before its monitor begins, without an event
	case len(kept) == len(now.OwnerReferences):
		return nil
	case len(kept) > 0:
		return patchMetadata(ctx, client, now, "ownerReferences", kept)
	}
	policy, dependents := metav1.DeletePropagationBackground, g.graph.dependentsOf(o.uid)
	switch {
	case waiting && len(dependents) > 0:
		// Owners in a circle would wait for each other.
		inCircle := slices.ContainsFunc(dependents, func(d *object) bool { return d.waits(metav1.FinalizerDeleteDependents) })
		if inCircle && slices.ContainsFunc(now.OwnerReferences, blocks) {
			// The event of this patch brings o here again.
			return patchMetadata(ctx, client, now, "ownerReferences", unblocked(now.OwnerReferences))
		}
		policy = metav1.DeletePropagationForeground
	case slices.Contains(now.Finalizers, metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(now.Finalizers, metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	err = client.Delete(ctx, o.name, metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &now.UID, ResourceVersion: &now.ResourceVersion},
		PropagationPolicy: &policy,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// settled reports whether all owners are known and none waits for dependents, so the server need
// not be asked.
func (g *Garbage) settled(o *object) bool {
	for _, ref := range o.owners {
		if owner := g.graph.get(ref.UID); !owner.matches(ref, o.namespace) || owner.waits(metav1.FinalizerDeleteDependents) {
			return false
		}
	}
	return true
}

var errUnseen = errors.New("an owner was not seen yet")

// exists reports whether an owner exists, and whether an event will report its end. It asks the
// server about owners not seen yet.
func (g *Garbage) exists(ctx context.Context, ref metav1.OwnerReference, namespace string) (there, seen bool, err error) {
	if g.graph.get(ref.UID).matches(ref, namespace) {
		return true, true, nil
	}
	resource, ok := g.resources.of(ref)
	if !ok || resource.Namespaced && namespace == "" {
		return true, true, nil // it can't be looked up: Kubernetes leaves these alone as well
	}
	owner, err := resource.in(g.objects, namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, false, nil
	}
	return err == nil && owner.UID == ref.UID, false, err
}

// orphan removes the references to an object deleted without its dependents, and releases it.
func (g *Garbage) orphan(ctx context.Context, o *object) error {
	for _, dependent := range g.graph.dependentsOf(o.uid) {
		client := dependent.resource.in(g.objects, dependent.namespace)
		now, err := client.Get(ctx, dependent.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(slices.Clone(now.OwnerReferences), func(ref metav1.OwnerReference) bool { return ref.UID == o.uid })
		if len(kept) == len(now.OwnerReferences) {
			continue
		}
		if err := patchMetadata(ctx, client, now, "ownerReferences", kept); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return g.release(ctx, o, metav1.FinalizerOrphanDependents)
}

// finishForeground releases an object when no dependent blocks its deletion. Until then it queues
// the dependents.
func (g *Garbage) finishForeground(ctx context.Context, o *object) error {
	blocked := false
	for _, dependent := range g.graph.dependentsOf(o.uid) {
		for _, ref := range dependent.owners {
			blocked = blocked || ref.UID == o.uid && blocks(ref)
		}
		g.queue.Add(dependent.uid)
	}
	if blocked {
		return nil // the end of the last one brings this object here again
	}
	return g.release(ctx, o, metav1.FinalizerDeleteDependents)
}

func blocks(ref metav1.OwnerReference) bool {
	return ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
}

func unblocked(refs []metav1.OwnerReference) []metav1.OwnerReference {
	refs = slices.Clone(refs)
	for i := range refs {
		refs[i].BlockOwnerDeletion = new(false)
	}
	return refs
}

func (g *Garbage) release(ctx context.Context, o *object, finalizer string) error {
	client := o.resource.in(g.objects, o.namespace)
	now, err := client.Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && now.UID != o.uid {
		return nil
	}
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(now.Finalizers), func(f string) bool { return f == finalizer })
	if err := patchMetadata(ctx, client, now, "finalizers", kept); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}
