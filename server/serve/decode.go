// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/hex"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// decoder reads objects as an API server reads custom resources. It reports duplicate fields, but
// returns the object.
var decoder = json.NewSerializerWithOptions(json.DefaultMetaFactory,
	unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(), json.SerializerOptions{Strict: true})

func decode(w http.ResponseWriter, res Resource, in *request.Write) (*unstructured.Unstructured, error) {
	want := res.GroupVersion().WithKind(res.Kind)
	obj := &unstructured.Unstructured{}
	_, got, err := decoder.Decode(in.Body, &want, obj)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && in.FieldValidation != metav1.FieldValidationStrict {
		if in.FieldValidation == metav1.FieldValidationWarn {
			warn(w, strict.Errors())
		}
		err = nil
	}
	if err == nil {
		err = checkMetadata(obj)
	}
	if err != nil {
		return nil, decodeError(err, got, want.Kind, in.Body)
	}
	if got.GroupVersion() != res.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion(), res.GroupVersion()))
	}
	return obj, nil
}

func decodeError(err error, got *schema.GroupVersionKind, kind string, body []byte) error {
	if got != nil && got.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summary(body)))
}

func summary(body []byte) string {
	const shown = 30 // bytes
	if len(body) == 0 {
		return "<empty>"
	}
	text, rest := body[:min(len(body), shown)], ""
	if len(body) > shown {
		rest = " ..."
	}
	if body[0] != '{' {
		return hex.EncodeToString(text) + rest
	}
	return string(text) + rest
}

func checkMetadata(obj *unstructured.Unstructured) error {
	data, err := utiljson.Marshal(obj.Object["metadata"])
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, &metav1.ObjectMeta{})
}

// warn adds Warning header fields, which clients show to their users. Text a header can't hold is
// dropped.
func warn(w http.ResponseWriter, warnings []error) {
	for _, warning := range warnings {
		if header, err := net.NewWarningHeader(299, "-", warning.Error()); err == nil {
			w.Header().Add("Warning", header)
		}
	}
}

func parse(o *watchcache.Object) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(o.Bytes); err != nil {
		return nil, fmt.Errorf("reading %s at version %d: %w", o.Key, o.Version, err)
	}
	return obj, nil
}

// validate returns the refusal of an object with a wrong type or bad metadata. old is the object it
// replaces, or nil.
func validate(res Resource, obj, old *unstructured.Unstructured) error {
	var errs field.ErrorList
	if obj.GetKind() != res.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), obj.GetKind(), "must be "+res.Kind))
	} else {
		at := field.NewPath("metadata")
		errs = validation.ValidateObjectMetaAccessor(obj, res.Namespaced, validation.NameIsDNSSubdomain, at)
		if old != nil {
			errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(obj, old, at)...)
		}
	}
	return request.Invalid(obj.GroupVersionKind().GroupKind(), obj.GetName(), errs)
}
