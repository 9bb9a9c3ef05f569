// SPDX-License-Identifier: Apache-2.0

package settings

import "reflect"

// GoType is a reflect.Type, as an interface with only one method, to save compile time: the
// compiler compiles the types that methods return in each package that can reach them, and each
// package of generated code can reach this one.
type GoType interface{ String() string }

// TypeOf returns the type that pointer points to. It isn't inlined, to save compile time.
//
//go:noinline
func TypeOf(pointer any) GoType { return reflect.TypeOf(pointer).Elem() }

// CodeOf returns the address of a function's code, to compare functions.
//
//go:noinline
func CodeOf(fn any) uintptr { return reflect.ValueOf(fn).Pointer() }

// IsNil reports whether v is nil, or an interface with a nil pointer, as a failed constructor may
// return.
func IsNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
