// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// descriptions caches describe, by type.
var descriptions sync.Map

// describe returns a hash that is equal for types with the same exported fields, of the same types,
// in the same order, with the same tags. Objects written by an older program lack fields added to a
// type since.
func describe(t reflect.Type) string {
	if known, ok := descriptions.Load(t); ok {
		return known.(string)
	}
	var text strings.Builder
	seen := map[reflect.Type]bool{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		fmt.Fprintf(&text, "%s.%v %v\n", t.PkgPath(), t, t.Kind())
		switch t.Kind() {
		case reflect.Map:
			add(t.Key())
			add(t.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			add(t.Elem())
		case reflect.Struct:
			for f := range t.Fields() {
				if f.IsExported() || f.Anonymous {
					fmt.Fprintf(&text, "\t%s %s.%v %q\n", f.Name, f.Type.PkgPath(), f.Type, f.Tag)
				}
			}
			for f := range t.Fields() {
				if f.IsExported() || f.Anonymous {
					add(f.Type)
				}
			}
		}
	}
	add(t)
	sum := hash(text.String())
	descriptions.Store(t, string(sum[:]))
	return string(sum[:])
}
