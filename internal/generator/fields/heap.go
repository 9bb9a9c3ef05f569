// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"go/types"
	"runtime"

	"github.com/informer-gen/informer-gen/internal/generator/fields/internal/flow"
)

var sizes = types.SizesFor("gc", runtime.GOARCH)

// heap estimates what the value of type t that JSON decodes to takes in memory: allocations have
// the size of what is in them, rounded up to 16 bytes, and share nothing.
func heap(t types.Type, v any) int64 { return block(sizes.Sizeof(t)) + outside(t, v) }

// outside is what a value refers to.
func outside(t types.Type, v any) (n int64) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if text, ok := v.(string); ok && u.Kind() == types.String {
			return block(int64(len(text)))
		}
	case *types.Pointer:
		if v != nil {
			return heap(u.Elem(), v)
		}
	case *types.Slice:
		if text, ok := v.(string); ok { // bytes, in base64
			return block(int64(len(text)) * 3 / 4)
		}
		elements, _ := v.([]any)
		n = block(int64(len(elements)) * sizes.Sizeof(u.Elem()))
		for _, element := range elements {
			n += outside(u.Elem(), element)
		}
	case *types.Map:
		entries, _ := v.(map[string]any)
		if len(entries) == 0 {
			return 0
		}
		// Groups of eight slots and a word, which are doubled when seven eighths are in use.
		slots := int64(8)
		for slots*7/8 < int64(len(entries)) {
			slots *= 2
		}
		n = mapHeader + slots/8*block(8+8*(sizes.Sizeof(u.Key())+sizes.Sizeof(u.Elem())))
		for key, value := range entries {
			n += block(int64(len(key))) + outside(u.Elem(), value)
		}
	case *types.Struct:
		fields, ok := v.(map[string]any)
		if !ok {
			text, _ := v.(string) // of a type with a form of its own
			return block(int64(len(text)))
		}
		for i := range u.NumFields() {
			name, inline := flow.JSONName(u.Field(i), u.Tag(i))
			if inline {
				n += outside(u.Field(i).Type(), v)
			} else if value, ok := fields[name]; ok {
				n += outside(u.Field(i).Type(), value)
			}
		}
	}
	return n
}

const mapHeader = 48

func block(n int64) int64 { return (n + 15) &^ 15 }
