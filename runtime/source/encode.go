// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/internal/decode"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// encoder encodes an object whose kind is set.
type encoder func(obj object.Object) ([]byte, error)

// encoders maps media types to encoders. The media type "" of a Request is not among them.
var encoders = map[string]encoder{
	JSON.mediaType():             func(obj object.Object) ([]byte, error) { return json.Marshal(obj) },
	Protobuf.mediaType():         func(obj object.Object) ([]byte, error) { return decode.EncodeProtobuf(obj) },
	string(types.ApplyPatchType): func(obj object.Object) ([]byte, error) { return jsonv2.Marshal(obj, applyOptions) },
}

// applyOptions leave out every struct field with its zero value. Non-nil pointers, maps and
// slices stay, even if they point to a zero value or are empty.
var applyOptions = jsonv2.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv2.OmitZeroStructFields(true),
	jsonv2.Deterministic(true),
)

func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

func isProjection(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && gotype.IsProjection(v.Type().Elem())
}
