// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// patcher is implemented by patches.All. The server calls it with mu held.
type patcher interface {
	StrategicMerge(content, patch []byte, like runtime.Object) ([]byte, error)
	Apply(empty, live, applied *unstructured.Unstructured, subresource, manager string, force bool) (runtime.Object, error)
	Update(empty, live, changed *unstructured.Unstructured, subresource, manager string) (runtime.Object, error)
}

// patches returns the supported media types of patches. API servers support strategic merge patches
// for built-in kinds only.
func (c *collection) patches() []string {
	all := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if c.server.Patches == nil {
		return all
	}
	if c.hasProtobuf {
		all = append(all, string(types.StrategicMergePatchType))
	}
	return append(all, string(types.ApplyPatchType))
}

func (c *collection) parsePatch(r Request, q query) (write, error) {
	media, _, _ := strings.Cut(r.ContentType, ";")
	if !slices.Contains(c.patches(), media) {
		refusal := request.Unsupported(c.patches()...)
		if c.server.Patches == nil {
			refusal.ErrStatus.Message += "; sourcetest.Server has others if its Patches are set"
		}
		return nil, refusal
	}
	var options metav1.PatchOptions
	if err := metav1.Convert_url_Values_To_v1_PatchOptions(&r.Query, &options, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if errs := metavalidation.ValidatePatchOptions(&options, types.PatchType(media)); len(errs) > 0 {
		return nil, request.Invalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
	}
	e := edit{query: q, sent: r, dryRun: len(options.DryRun) > 0, applies: types.PatchType(media) == types.ApplyPatchType}
	e.do = func(old object.Object) (obj object.Object, err error) {
		if e.applies {
			obj, err = c.apply(r, options, old)
		} else {
			obj, err = c.patched(types.PatchType(media), options, r.Body, old)
		}
		if err != nil {
			return nil, err
		}
		return obj, q.Named(obj)
	}
	return c.editing(e), nil
}

func (c *collection) patched(kind types.PatchType, options metav1.PatchOptions, patch []byte, old object.Object) (object.Object, error) {
	content, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	if content, err = c.patch(kind, content, patch); err != nil {
		return nil, err
	}
	obj, err := c.decode(JSON, options.FieldValidation, content)
	if err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(content), err.Error())})
	}
	return obj, nil
}

func (c *collection) patch(kind types.PatchType, content, patch []byte) ([]byte, error) {
	switch kind {
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if content, err = operations.Apply(content); err != nil {
			return nil, unprocessable(err)
		}
		return content, nil
	case types.MergePatchType:
		content, err := jsonpatch.MergePatch(content, patch)
		if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
			err = apierrors.NewBadRequest(err.Error())
		}
		return content, err
	}
	content, err := c.server.Patches.StrategicMerge(content, patch, c.newObject())
	switch {
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return nil, unprocessable(err)
	case err != nil:
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return content, nil
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}
