// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/binary"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// siteOffset returns the index among untypedSites for the value of a key.
func siteOffset(key string) int {
	if len(key) == 0 {
		return 0
	}
	return (len(key) + 7*int(key[0]) + 3*int(key[len(key)/2]) + int(key[len(key)-1])) % untypedSites
}

func (a *Adopter) writeAny(p layout.Pointer, offset int) bool {
	if f := a.untypedField(p); f != nil {
		if f.kind == mapField {
			a.buf = append(a.buf, isMap)
		} else {
			a.buf = append(a.buf, isList)
		}
		return a.writeReference(f, f.site+offset, layout.Of(&layout.As[layout.Interface](p).Data))
	}
	switch v := (*layout.As[any](p)).(type) {
	case nil:
		a.buf = append(a.buf, isNil)
	case string:
		a.buf = append(a.buf, isString)
		a.writeText(v)
	case bool:
		a.buf = append(a.buf, isBool)
		a.writeMemory(layout.Of(&v), 1)
	case int64:
		a.buf = append(a.buf, isInt)
		a.buf = binary.LittleEndian.AppendUint64(a.buf, uint64(v))
	case float64:
		a.buf = append(a.buf, isFloat)
		a.writeMemory(layout.Of(&v), 8)
	default:
		a.buf = append(a.buf, isOther)
		a.writeMemory(p, 2*wordSize)
	}
	return true
}

// untypedField returns the field for the value in the empty interface at p if it is a map or a
// slice that may be shared, else nil.
func (a *Adopter) untypedField(p layout.Pointer) *field {
	switch v := (*layout.As[any](p)).(type) {
	case map[string]any:
		if v != nil {
			return &a.program.untypedMap
		}
	case []any:
		if v != nil {
			return &a.program.untypedList
		}
	}
	return nil
}
