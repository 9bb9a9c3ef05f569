// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"reflect"
	"strings"
)

// jsonName returns a field's name in JSON; inline means that its own fields replace it.
func jsonName(field reflect.StructField) (name string, inline bool) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "-" || !field.IsExported() {
		return "", false
	}
	return name, name == "" && (field.Anonymous || strings.Contains(options, "inline"))
}

// promoted reports whether JSON has a field of a struct embedded in t among t's own fields.
func promoted(t reflect.Type, field reflect.StructField) bool {
	for depth := 1; depth < len(field.Index); depth++ {
		if _, inline := jsonName(t.FieldByIndex(field.Index[:depth])); !inline {
			return false
		}
	}
	return true
}
