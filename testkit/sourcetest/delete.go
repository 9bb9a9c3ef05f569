// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func (c *collection) parseDelete(r Request, q query) (write, error) {
	options, err := c.readDeleteOptions(r)
	if err != nil {
		return nil, err
	}
	if errs := metavalidation.ValidateDeleteOptions(options); len(errs) > 0 {
		return nil, invalidOptions(deleteOptions, errs)
	}
	if r.Name == "" {
		return func(a *Answer) error { return c.deleteAll(a, q, options) }, nil
	}
	key := object.Key{Namespace: r.Namespace, Name: r.Name}
	return func(a *Answer) error {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		answer, err := c.removeLocked(key, options)
		if obj, ok := answer.(object.Object); ok {
			answer = c.out(obj, q.Partial)
		}
		a.Object = answer
		return err
	}, nil
}

// deleteAll deletes what q selects, one object after the other. The answer is the list of them.
func (c *collection) deleteAll(a *Answer, q query, options *metav1.DeleteOptions) error {
	var refusal *metav1.Status
	if a.Page, refusal = c.list(context.Background(), q); refusal != nil {
		return &apierrors.StatusError{ErrStatus: *refusal}
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	for _, item := range a.Page.Items {
		if _, err := c.removeLocked(object.KeyOf(item.(object.Object)), options); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// removeLocked deletes an object. What it returns is a Status if the object is gone, and the object
// if finalizers hold it.
func (c *collection) removeLocked(key object.Key, options *metav1.DeleteOptions) (runtime.Object, error) {
	old := c.history.get(key)
	if old == nil {
		return nil, apierrors.NewNotFound(c.resource.GroupResource(), key.Name)
	}
	if err := c.precondition(old, options.Preconditions); err != nil {
		return nil, err
	}
	obj := old.DeepCopyObject().(object.Object)
	switch dryRun := len(options.DryRun) > 0; {
	case len(obj.GetFinalizers()) == 0:
		if !dryRun {
			c.deleteLocked(key, obj)
		}
		return typed(&metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
			Name: key.Name, Group: c.resource.Group, Kind: c.resource.Resource, UID: old.GetUID(),
		}}), nil
	case c.doom(obj) && !dryRun:
		return c.writeLocked(key, obj), nil
	default:
		return obj, nil
	}
}

// precondition refuses the delete of an object that is not the one which is meant.
func (c *collection) precondition(old object.Object, p *metav1.Preconditions) error {
	var err error
	switch {
	case p == nil:
	case p.UID != nil && *p.UID != old.GetUID():
		err = fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, old.GetUID())
	case p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion():
		err = fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, old.GetResourceVersion())
	}
	if err == nil {
		return nil
	}
	return apierrors.NewConflict(schema.GroupResource{Group: c.kind.Group, Resource: c.kind.Kind}, old.GetName(), err)
}
