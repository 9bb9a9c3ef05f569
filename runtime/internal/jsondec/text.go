// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/base64"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

func (d *Decoder) string(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	end, plain := stringEnd(in, i)
	switch {
	case end < 0:
		return -1
	case !plain:
		if !d.text.AddUnquoted(p, func(dst []byte) ([]byte, bool) { return unquote(dst, in[i-1:end]) }) {
			return -1
		}
		return end
	}
	b := in[i : end-1]
	if s, ok := d.finder.String(int(pl.site), b); ok {
		*layout.As[string](p) = s
	} else {
		d.text.Add(p, b)
	}
	return end
}

// name decodes a name or namespace. Programs often keep these as keys after the object is gone, so
// they keep nothing else alive.
func (d *Decoder) name(pl *plan, i int, p layout.Pointer) int {
	b, end := d.plainText(i)
	if end < 0 {
		return -1
	}
	if s, ok := d.finder.String(int(pl.site), b); ok {
		*layout.As[string](p) = s
	} else {
		*layout.As[string](p) = string(b)
	}
	return end
}

func (d *Decoder) stringPointer(pl *plan, i int, p layout.Pointer) int {
	to := layout.As[layout.Pointer](p)
	if !d.sharesParts {
		*to = pl.elem.typ.New()
		return d.string(pl.elem, i, *to)
	}
	b, end := d.plainText(i)
	if end < 0 {
		return -1
	}
	s, repeats := d.finder.String(int(pl.elem.site), b)
	if repeats {
		if shared := d.finder.Text(s); shared != nil {
			*to = layout.Of(shared)
			return end
		}
	} else {
		s = string(b)
	}
	*to = pl.elem.typ.New()
	*layout.As[string](*to) = s
	return end
}

// unquote appends the text of a valid string. It returns false for half of a surrogate pair.
func unquote(dst, quoted []byte) ([]byte, bool) {
	dst, err := jsontext.AppendUnquote(dst, quoted)
	return dst, err == nil
}

// plainText returns the text of a string, valid until the next call.
func (d *Decoder) plainText(i int) (b []byte, end int) {
	end, plain := stringEnd(d.in, i)
	if end < 0 {
		return nil, -1
	}
	b = d.in[i : end-1]
	if !plain {
		var ok bool
		if d.buf, ok = unquote(d.buf[:0], d.in[i-1:end]); !ok {
			return nil, -1
		}
		b = d.buf
	}
	return b, end
}

func (d *Decoder) bytes(i int, p layout.Pointer) int {
	b, end := d.plainText(i)
	if end < 0 {
		return -1
	}
	d.base64 = slices.Grow(d.base64[:0], base64.StdEncoding.DecodedLen(len(b)))
	decoded := d.base64[:cap(d.base64)]
	n, err := base64.StdEncoding.Decode(decoded, b)
	if err != nil {
		return -1
	}
	own := make([]byte, n)
	copy(own, decoded)
	*layout.As[[]byte](p) = own
	return end
}
