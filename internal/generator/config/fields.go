// SPDX-License-Identifier: Apache-2.0

package config

import "reflect"

func fieldsOf(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for field := range t.Fields() {
		if _, ok := field.Tag.Lookup("arg"); ok {
			fields = append(fields, field)
		}
	}
	return fields
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for _, field := range fieldsOf(t) {
		if field.Tag.Get("arg") == key {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func keys(t reflect.Type) []string {
	var names []string
	for _, field := range fieldsOf(t) {
		names = append(names, field.Tag.Get("arg"))
	}
	return names
}
