// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// fieldSegment returns "." and the name that the field has in JSON, or its Go name if it has none.
// It returns "" for a field that JSON inlines.
func fieldSegment(t reflect.Type, i int) string {
	field := t.Field(i)
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	inline := field.Anonymous || strings.Contains(","+options+",", ",inline,") || t == unstructuredType
	switch {
	case name != "" && name != "-":
		return "." + name
	case inline:
		return ""
	}
	return "." + field.Name
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keySegment returns ["key"]. In free-form JSON, whose maps are objects, it returns .key if key is
// an identifier.
func keySegment(t reflect.Type, key reflect.Value) string {
	if key.Kind() != reflect.String {
		return "[" + keyText(key) + "]"
	}
	if t == freeFormType && identifier.MatchString(key.String()) {
		return "." + key.String()
	}
	return "[" + strconv.Quote(key.String()) + "]"
}

func keyText(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	return fmt.Sprint(key)
}
