// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// schemaText returns the JSON schema (draft 2020-12) of the configuration file. It accepts the
// files that Parse accepts, except that it can't find duplicate keys, packages and kinds.
func schemaText() []byte {
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", SchemaID},
		{"title", FileName},
		{"description", "The configuration file of informer-gen."},
	}
	root = append(root, structSchema(reflect.TypeFor[File]())...)
	var compact, text bytes.Buffer
	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(root)
	if err == nil {
		err = json.Indent(&text, compact.Bytes(), "", "  ")
	}
	if err != nil {
		panic(err) // unreachable: all values can be encoded
	}
	return text.Bytes()
}

// object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(m.key); err != nil {
			return nil, err
		}
		text.WriteByte(':')
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// structSchema describes a mapping with the keys of a struct.
func structSchema(t reflect.Type) object {
	var members object
	var required []string
	for _, field := range fieldsOf(t) {
		name := field.Tag.Get("arg")
		members = append(members, member{name, append(object{{"description", describe(field.Tag)}}, fieldSchema(field)...)})
		if field.Tag.Get("required") == "true" {
			required = append(required, name)
		}
	}
	result := object{{"type", "object"}, {"additionalProperties", false}}
	if required != nil {
		result = append(result, member{"required", required})
	}
	return append(result, member{"properties", members})
}

// describe returns a key's documentation: meaning, default, and the equivalent flag or marker.
func describe(tag reflect.StructTag) string {
	text := tag.Get("doc")
	if value := tag.Get("default"); value != "" {
		text += "; default: " + value
	}
	for _, other := range []string{tag.Get("flag"), tag.Get("marker")} {
		if other != "" {
			text += "; same as " + other
		}
	}
	return text
}

// fieldSchema describes the values of a key.
func fieldSchema(field reflect.StructField) object {
	switch t := field.Type; {
	case t == valueType:
		return scalarSchema(field.Tag)
	case t.Elem() == entryType:
		return object{{"type", "object"}, {"minProperties", 1}, {"additionalProperties", scalarSchema(field.Tag)}}
	case t.Elem() == valueType:
		one := scalarSchema(field.Tag)
		return object{{"anyOf", []object{one, {{"type", "array"}, {"minItems", 1}, {"items", one}}}}}
	default:
		return object{{"type", "array"}, {"minItems", 1}, {"items", structSchema(t.Elem().Elem())}}
	}
}

// scalarSchema describes a text, a number or a bool.
func scalarSchema(tag reflect.StructTag) object {
	var result object
	types := typeOf(tag).schema
	if len(types) == 1 {
		result = object{{"type", types[0]}}
	} else {
		result = object{{"type", types}}
	}
	allowed := strings.Fields(tag.Get("allowed"))
	switch {
	case isBool(tag):
	case types[0] == "integer":
		var numbers []int
		for _, text := range allowed {
			n, err := strconv.Atoi(text)
			if err != nil {
				panic(err) // the tag is wrong
			}
			numbers = append(numbers, n)
		}
		result = append(result, member{"enum", numbers})
	case len(allowed) > 0:
		result = append(result, member{"enum", allowed})
	case tag.Get("empty") != "true":
		result = append(result, member{"minLength", 1})
	}
	return result
}
