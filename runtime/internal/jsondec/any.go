// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// any decodes a value for an empty interface: integers as int64 if they fit, other numbers as
// float64.
func (d *Decoder) any(i int) (v any, end int) {
	in := d.in
	if i = skipSpace(in, i); i >= len(in) {
		return nil, -1
	}
	switch in[i] {
	case '{':
		return d.anyMap(i + 1)
	case '[':
		return d.anySlice(i + 1)
	case '"':
		b, end := d.plainText(i + 1)
		if end < 0 {
			return nil, -1
		}
		return string(b), end
	case 't':
		return true, literalEnd(in, i, "true")
	case 'f':
		return false, literalEnd(in, i, "false")
	case 'n':
		return nil, literalEnd(in, i, "null")
	}
	end, _ = numberEnd(in, i)
	if end < 0 {
		return nil, -1
	}
	text := layout.View(in[i:end])
	if bytes.IndexByte(in[i:end], '.') < 0 {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, end
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, -1
	}
	return f, end
}

// Untyped decodes JSON objects without a type, for one goroutine.
type Untyped struct{ d Decoder }

// NewUntyped returns an Untyped. With dropManagedFields it leaves metadata.managedFields out.
func NewUntyped(dropManagedFields bool) *Untyped {
	return &Untyped{Decoder{dropManaged: dropManagedFields}}
}

// Decode decodes the JSON object at the start of input, after optional white space. It returns the
// number of bytes read. If ok is false, the input may be invalid or only unusual.
func (u *Untyped) Decode(input []byte) (content map[string]any, n int, ok bool) {
	d := &u.d
	d.in, d.depth = input, 0
	v, n := d.any(0)
	d.release()
	d.in = nil
	content, ok = v.(map[string]any)
	return content, n, ok && n >= 0
}

// Bounds of the names a Decoder keeps, because keys of annotations can be many and long.
const (
	maxNames    = 4096
	maxNameSize = 64
)

func (d *Decoder) anyName(b []byte) string {
	name, ok := d.anyNames[string(b)]
	if ok {
		return name
	}
	name = string(b)
	if len(name) <= maxNameSize && len(d.anyNames) < maxNames {
		if d.anyNames == nil {
			d.anyNames = map[string]string{}
		}
		d.anyNames[name] = name
	}
	return name
}

func (d *Decoder) anyMap(i int) (v any, end int) {
	in := d.in
	m := map[string]any{}
	if i = skipSpace(in, i); i < len(in) && in[i] == '}' {
		return m, i + 1
	}
	if d.depth++; d.depth > maxDepth {
		return nil, -1
	}
	for more := true; more; {
		if i = skipSpace(in, i); i >= len(in) || in[i] != '"' {
			return nil, -1
		}
		b, end := d.plainText(i + 1)
		if end < 0 {
			return nil, -1
		}
		if d.depth == 1 {
			d.inMetadata = string(b) == "metadata"
		}
		dropped := d.dropManaged && d.depth == 2 && d.inMetadata && string(b) == "managedFields"
		name := d.anyName(b)
		if i = skipSpace(in, end); i >= len(in) || in[i] != ':' {
			return nil, -1
		}
		before := len(m)
		if dropped {
			i = skip(in, i+1)
		} else if m[name], i = d.any(i + 1); len(m) == before {
			return nil, -1
		}
		if i < 0 {
			return nil, -1
		}
		if i, more = next(in, i, '}'); i < 0 {
			return nil, -1
		}
	}
	d.depth--
	return m, i
}

func (d *Decoder) anySlice(i int) (v any, end int) {
	in := d.in
	list := []any{}
	if i = skipSpace(in, i); i < len(in) && in[i] == ']' {
		return list, i + 1
	}
	if d.depth++; d.depth > maxDepth {
		return nil, -1
	}
	for more := true; more; {
		if v, i = d.any(i); i < 0 {
			return nil, -1
		}
		list = append(list, v)
		if i, more = next(in, i, ']'); i < 0 {
			return nil, -1
		}
	}
	d.depth--
	return slices.Clip(list), i
}
