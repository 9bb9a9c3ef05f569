// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func (c *collection) deleting(q query, sent *request.Write) write {
	if q.Name == "" {
		return func(a *Answer) error { return c.deleteAll(a, q, sent) }
	}
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		answer, err := c.removeLocked(object.Key{Namespace: q.Namespace, Name: q.Name}, q, sent)
		if obj, ok := answer.(object.Object); ok {
			answer = c.out(obj, q.Partial)
		}
		a.Object = answer
		return err
	}
}

func (c *collection) deleteAll(a *Answer, q query, sent *request.Write) error {
	var refusal *metav1.Status
	if a.Page, refusal = c.list(context.Background(), q); refusal != nil {
		return &apierrors.StatusError{ErrStatus: *refusal}
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, item := range a.Page.Items {
		if _, err := c.removeLocked(object.KeyOf(item.(object.Object)), q, sent); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// removeLocked deletes an object. It returns a Status if the object is gone, or the object if
// finalizers hold it.
func (c *collection) removeLocked(key object.Key, q query, sent *request.Write) (runtime.Object, error) {
	old := c.history.get(key)
	if old == nil {
		return nil, apierrors.NewNotFound(c.resource.GroupResource(), key.Name)
	}
	if err := sent.Check(c.kind.GroupKind(), old); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject().(object.Object)
	switch {
	case len(obj.GetFinalizers()) == 0:
		if !sent.DryRun {
			c.deleteLocked(key, obj)
		}
		return q.Deleted(old), nil
	case request.MarkDeleted(obj) && !sent.DryRun:
		return c.writeLocked(key, obj), nil
	default:
		return obj, nil
	}
}
