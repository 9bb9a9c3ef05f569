// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// maxNameAttempts is how many names are tried for an object with generateName.
const maxNameAttempts = 8

func (c *write) create() error {
	obj, err := decode(c.w, c.res, c.content)
	if err != nil {
		return err
	}
	if err := c.r.InNamespace(obj); err != nil {
		return err
	}
	obj.SetUID(uuid.NewUUID())
	obj.SetCreationTimestamp(metav1.Now())
	obj.SetGeneration(1)
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")

	base := obj.GetGenerateName()
	if base == "" || obj.GetName() != "" {
		return c.createNamed(obj)
	}
	for range maxNameAttempts {
		obj.SetName(generateName(base))
		if err = c.createNamed(obj); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return apierrors.NewGenerateNameConflict(c.r.Resource.GroupResource(), obj.GetName(), 1)
}

func generateName(base string) string {
	const maxLength, suffixLength = 63, 5
	return base[:min(len(base), maxLength-suffixLength)] + rand.String(suffixLength)
}

func (c *write) createNamed(obj *unstructured.Unstructured) error {
	if err := validate(c.res, obj, nil); err != nil {
		return err
	}
	if obj.GetResourceVersion() != "" {
		return errors.New("resourceVersion should not be set on objects to be created")
	}
	c.r.Name = obj.GetName()
	data, err := json.Marshal(obj.Object)
	if err != nil {
		return err
	}
	if c.content.DryRun {
		old, err := c.current(0)
		if err == nil && old != nil {
			err = refusal(watchcache.ErrExists, c.r)
		}
		if err != nil {
			return err
		}
		return c.answer(http.StatusCreated, data)
	}
	stored, err := c.res.Writer.Create(c.ctx, data)
	if err != nil {
		return refusal(err, c.r)
	}
	return c.answerStored(http.StatusCreated, stored)
}
