// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// fieldSegment returns ".name" with the name that the field has in JSON, else its Go name; "" for what JSON inlines.
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

// keySegment returns ["key"]; in free-form JSON, whose maps are objects, .key if that is unmistakable.
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

// text returns a value as JSON if it can be written so, at most 200 bytes of it.
func text(v reflect.Value) string {
	if !v.IsValid() {
		return "(absent)"
	}
	s, ok := jsonText(v)
	if !ok {
		s = fmt.Sprintf("%+v", v)
	}
	const limit = 200
	if len(s) <= limit {
		return s
	}
	const more = "…"
	return strings.ToValidUTF8(s[:limit-len(more)], "") + more
}

func jsonText(v reflect.Value) (s string, ok bool) {
	if !v.CanInterface() {
		return "", false
	}
	defer func() {
		if recover() != nil { // a MarshalJSON that can't do with what was made of its object
			s, ok = "", false
		}
	}()
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 && !v.IsNil() {
		return strconv.Quote(string(v.Bytes())), true // not base64
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v.Interface()); err != nil {
		return "", false
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}
