// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	stdjson "encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func (c *collection) decode(format, fieldValidation string, raw []byte) (object.Object, error) {
	var decoder runtime.Decoder = protobuf.NewSerializer(c.scheme, c.scheme)
	if format == JSON {
		strict := json.SerializerOptions{Strict: fieldValidation == metav1.FieldValidationStrict}
		decoder = json.NewSerializerWithOptions(json.DefaultMetaFactory, c.scheme, c.scheme, strict)
	}
	obj, kind, err := decoder.Decode(raw, &c.kind, c.newObject())
	if content, ok := obj.(*unstructured.Unstructured); ok && err == nil {
		err = normalizeMetadata(content)
	}
	switch {
	case err != nil && kind != nil && kind.Kind != "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, c.kind.Kind, err))
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", c.kind.Kind, err))
	case *kind != c.kind: // an unstructured object
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s", kind.Kind, kind.Version, c.kind.Kind))
	}
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj.(object.Object), nil
}

// normalizeMetadata converts an unstructured object's metadata as if it had been read into a typed
// object, so that typed clients can read it, too.
func normalizeMetadata(obj *unstructured.Unstructured) error {
	raw, err := stdjson.Marshal(obj.Object["metadata"])
	if err != nil {
		return err
	}
	var metadata metav1.ObjectMeta
	if err := stdjson.Unmarshal(raw, &metadata); err != nil {
		return err
	}
	obj.Object["metadata"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&metadata)
	return err
}
