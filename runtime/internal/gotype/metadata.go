// SPDX-License-Identifier: Apache-2.0

package gotype

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
)

var (
	objectMetaType = reflect.TypeFor[metav1.ObjectMeta]()
	noMetaType     = reflect.TypeFor[object.NoMeta]()
)

// IsMetadata reports whether t holds the metadata of an object: metav1.ObjectMeta, or its
// replacement in a projection (see object.NoMeta).
func IsMetadata(t reflect.Type) bool { return t == objectMetaType || isProjectedMetadata(t) }

// IsName reports whether a field of t is the name or the namespace of an object, as a string.
func IsName(t reflect.Type, f reflect.StructField) bool {
	return IsMetadata(t) && f.Type.Kind() == reflect.String && (f.Name == "Name" || f.Name == "Namespace")
}

// IsProjection reports whether t is a projection: a struct with the metadata of one.
func IsProjection(t reflect.Type) bool { return hasField(t, isProjectedMetadata) }

func isProjectedMetadata(t reflect.Type) bool {
	return hasField(t, func(of reflect.Type) bool { return of == noMetaType })
}

func hasField(t reflect.Type, is func(reflect.Type) bool) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if is(f.Type) {
			return true
		}
	}
	return false
}
