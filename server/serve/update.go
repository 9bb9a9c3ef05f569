// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func (c *write) update() error {
	obj, err := decode(c.w, c.res, c.content)
	if err != nil {
		return err
	}
	if err := c.r.Named(obj); err != nil {
		return err
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
		return c.r.Conflict(fmt.Errorf("precondition failed: UID in precondition: %s, UID in object meta: %s", obj.GetUID(), stored.UID))
	case version == 0:
		return c.r.NoVersion(0, "must be specified for an update")
	case version != stored.Version:
		return refusal(watchcache.ErrConflict, c.r)
	}
	old, err := parse(stored)
	if err != nil {
		return err
	}
	request.Keep(obj, old, !sameContent(obj, old))
	if err := validate(c.res, obj, old); err != nil {
		return err
	}
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	switch {
	case c.content.DryRun, reflect.DeepEqual(obj.Object, old.Object):
		return c.answer(http.StatusOK, data)
	case old.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0: // no finalizer is left
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
