// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/quantity"
)

// typedOptions are the semantics of sigs.k8s.io/json for every type that is not exotic. They omit
// one step of version 1: validating each value before it is decoded, in a second pass over all
// bytes. Quantities are parsed in bounded time.
var typedOptions = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	json.MatchCaseInsensitiveNames(false),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	json.WithUnmarshalers(json.UnmarshalFunc(quantity.ParseJSON)),
)

var fromUnmarshaler = reflect.TypeFor[json.UnmarshalerFrom]()

// isExotic reports whether a type contains something our decoder reads differently from
// sigs.k8s.io/json, or not at all: an empty interface, a json.Number, an UnmarshalJSONFrom method,
// a channel or a function, a json tag with different meanings in version 1 and version 2 of the
// decoder. It doesn't look into types with a decoding method of their own.
func isExotic(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	of := gotype.Of(t)
	switch {
	case reflect.PointerTo(t).Implements(fromUnmarshaler), of.Known == gotype.Number:
		return true
	case of.Methods.JSON || of.Methods.Text:
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Chan, reflect.Func:
		return true
	case reflect.Map:
		return isExotic(t.Key(), seen) || isExotic(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return isExotic(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if isExoticTag(f.Tag.Get("json"), f.Type) || isExotic(f.Type, seen) {
				return true
			}
		}
		return json.Unmarshal([]byte("{}"), reflect.New(t).Interface(), typedOptions) != nil
	}
	return false
}

// isExoticTag reports whether a tag has a name that version 1 ignores, an option unknown to it, or
// "string" where it has another meaning or none.
func isExoticTag(tag string, t reflect.Type) bool {
	name, options, _ := strings.Cut(tag, ",")
	if name != "" && !gotype.IsJSONName(name) {
		return true
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "omitempty", "omitzero", "inline":
		case "string":
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if basic := t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64; !basic || t.PkgPath() != "" {
				return true
			}
		default:
			return true
		}
	}
	return false
}
