// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

var (
	valueType = reflect.TypeFor[marker.Value]()
	entryType = reflect.TypeFor[Entry]()
)

func typeOf(tag reflect.StructTag) scalarType {
	switch {
	case tag.Get("type") == "integer":
		return scalarType{"an integer", []string{"integer"}, isInteger}
	case tag.Get("type") == "year":
		return scalarType{"a string", []string{"string", "integer"}, func(v any) bool { return isString(v) || isInteger(v) }}
	case isBool(tag):
		return scalarType{"true or false", []string{"boolean"}, func(v any) bool { _, ok := v.(bool); return ok }}
	}
	return scalarType{"a string", []string{"string"}, isString}
}

type scalarType struct {
	name   string
	schema []string
	is     func(value any) bool
}

func isString(value any) bool {
	_, ok := value.(string)
	return ok
}

func isInteger(value any) bool {
	n, ok := value.(json.Number)
	return ok && !strings.ContainsAny(n.String(), ".eE")
}

func isScalar(value any) bool {
	switch value.(type) {
	case nil, []any, map[string]any:
		return false
	}
	return true
}

func isBool(tag reflect.StructTag) bool { return tag.Get("allowed") == "true false" }

func wrongType(value any, want string) string {
	message := "the value is " + typeName(value) + ", but must be " + want
	switch {
	case value == nil:
		return "the value is missing: add one, or remove the key"
	case isScalar(value) && want == "a string":
		message += ": put it in quotes"
	}
	return message
}

func typeName(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "empty"
}

// oneLine returns text, quoted if it has line breaks or other non-graphic characters.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(text)
	}
	return text
}
