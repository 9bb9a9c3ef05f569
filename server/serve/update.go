// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func (c *write) update() error {
	obj, err := decode(c.w, c.res, c.r, c.sent)
	if err != nil {
		return err
	}
	switch obj.GetName() {
	case c.r.Name:
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", c.r.Name))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), c.r.Name))
	}
	version, err := request.ParseVersion(obj.GetResourceVersion())
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	stored, err := c.current(version)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return refusal(watchcache.ErrNotFound, c.r)
	case obj.GetUID() != "" && string(obj.GetUID()) != stored.UID:
		return apierrors.NewConflict(c.r.Resource.GroupResource(), c.r.Name, fmt.Errorf("precondition failed: UID in precondition: %s, UID in object meta: %s", obj.GetUID(), stored.UID))
	case version == 0:
		return noVersion(c.r)
	case version != stored.Version:
		return refusal(watchcache.ErrConflict, c.r)
	}
	old, err := parse(stored)
	if err != nil {
		return err
	}
	keepSystemFields(obj, old)
	if err := validate(c.res, obj, old); err != nil {
		return err
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	switch {
	case c.sent.DryRun, reflect.DeepEqual(obj.Object, old.Object):
		return c.answer(http.StatusOK, data)
	case old.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0: // nothing holds it
		if err := c.remove(stored); err != nil && !errors.Is(err, watchcache.ErrNotFound) {
			return refusal(err, c.r)
		}
		return c.answer(http.StatusOK, data)
	}
	if stored, err = c.res.Writer.Update(c.ctx, data); err != nil {
		return refusal(err, c.r)
	}
	return c.answerStored(http.StatusOK, stored)
}

// keepSystemFields gives an object the fields of the old one that clients can't change.
func keepSystemFields(obj, old *unstructured.Unstructured) {
	obj.SetGeneration(old.GetGeneration())
	if !sameContent(obj, old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		obj.SetCreationTimestamp(created)
	}
	if deleted := old.GetDeletionTimestamp(); deleted != nil {
		obj.SetDeletionTimestamp(deleted)
	}
	if seconds := old.GetDeletionGracePeriodSeconds(); seconds != nil && obj.GetDeletionGracePeriodSeconds() == nil {
		obj.SetDeletionGracePeriodSeconds(seconds)
	}
}

// sameContent reports whether two objects are the same but for their metadata.
func sameContent(a, b *unstructured.Unstructured) bool {
	if len(a.Object) != len(b.Object) { // both have metadata
		return false
	}
	for name, value := range a.Object {
		other, ok := b.Object[name]
		if !ok || name != "metadata" && !reflect.DeepEqual(value, other) {
			return false
		}
	}
	return true
}

// noVersion is the refusal of an update that names no version.
func noVersion(r *request.Request) error {
	// As in API servers, it is the resource.
	kind := schema.GroupKind{Group: r.Resource.Group, Kind: r.Resource.Resource}
	return apierrors.NewInvalid(kind, r.Name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}
