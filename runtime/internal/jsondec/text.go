// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding/base64"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// recent holds the strings that came last at a site. Each has the string that followed it last
// time, which is tried first. If nothing repeats, the site is skipped for a while.
type recent struct {
	strings [recentSize]string
	hashes  [recentSize]uint64
	next    [recentSize]uint8
	// shared pointers to the strings and, at the end, to an empty one; allocated when needed
	targets *[recentSize + 1]*string
	at      uint8 // index of the last string
	oldest  uint8 // index of the string that is replaced next
	credit  int16 // below 0: the number of strings to skip
}

const (
	recentSize = 8
	maxCredit  = 64
	hitCredit  = 4
	rest       = 512
)

// string decodes the string whose first byte after the quote is in[i].
func (d *Decoder) string(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	r := d.strings.get(pl.number)
	if r == nil {
		r = d.strings.set(pl.number, &recent{credit: maxCredit / 2})
	}
	if r.credit > 0 {
		guess := r.next[r.at%recentSize] % recentSize
		s := r.strings[guess]
		if end := i + len(s); end < len(in) && in[end] == '"' && string(in[i:end]) == s {
			r.at = guess
			r.credit = min(r.credit+hitCredit, maxCredit)
			*layout.As[string](p) = s
			return end + 1
		}
	}
	end, plain := stringEnd(in, i)
	if end < 0 {
		return -1
	}
	if !plain {
		if !d.text.AddUnquoted(p, func(dst []byte) ([]byte, bool) { return unquote(dst, in[i:end-1]) }) {
			return -1
		}
		return end
	}
	if end == i+1 {
		return end
	}
	b := in[i : end-1]
	if r.credit > 0 {
		if s, ok := d.repeated(r, int(pl.site), b); ok {
			*layout.As[string](p) = s
			return end
		}
	} else if d.predictor != nil {
		if r.credit++; r.credit == 0 {
			r.credit = maxCredit / 4
		}
	}
	d.text.Add(p, b)
	return end
}

// name decodes the name or namespace whose first byte after the quote is in[i]. Programs often keep
// these as keys after the object is gone, so they keep nothing else alive.
func (d *Decoder) name(pl *plan, i int, p layout.Pointer) int {
	b, end := d.plainText(i)
	if end < 0 {
		return -1
	}
	if s, ok := d.predictor.String(int(pl.site), b); ok {
		*layout.As[string](p) = s
	} else {
		*layout.As[string](p) = string(b)
	}
	return end
}

// stringPointer decodes the string that a pointer points to, and whose first byte after the quote
// is in[i].
func (d *Decoder) stringPointer(pl *plan, i int, p layout.Pointer) int {
	to := layout.As[layout.Pointer](p)
	if !d.parts {
		*to = pl.elem.typ.New()
		return d.string(pl.elem, i, *to)
	}
	d.pointed = ""
	mark := d.text.Mark()
	end := d.string(pl.elem, i, layout.Of(&d.pointed))
	if end < 0 {
		return -1
	}
	r := d.strings.get(pl.elem.number)
	if d.text.Mark() != mark || d.pointed != "" && d.pointed != r.strings[r.at] {
		// The string belongs to the object: it gets memory of its own.
		*to = pl.elem.typ.New()
		*layout.As[string](*to) = d.pointed
		d.text.Move(mark, layout.Of(&d.pointed), *to, pl.elem.typ.Size())
		return end
	}
	*to = layout.Of(d.target(r, d.pointed))
	return end
}

// target returns the pointer for s, which is the last string of a site or empty.
func (d *Decoder) target(r *recent, s string) *string {
	if r.targets == nil {
		r.targets = new([recentSize + 1]*string)
	}
	at := r.at
	if s == "" {
		at = recentSize
	}
	p := d.predictor.Text(s, r.targets[at])
	if p == nil {
		return new(s) // not &s, which would allocate in each call
	}
	r.targets[at] = p
	return p
}

// repeated returns the string with the bytes b if the site has it.
func (d *Decoder) repeated(r *recent, site int, b []byte) (string, bool) {
	hash := hashName(b)
	for at := range r.hashes {
		if r.hashes[at] == hash && r.strings[at] == string(b) {
			r.follow(uint8(at))
			return r.strings[at], true
		}
	}
	if s, ok := d.predictor.String(site, b); ok {
		r.strings[r.oldest], r.hashes[r.oldest] = s, hash
		if r.targets != nil {
			r.targets[r.oldest] = nil
		}
		r.follow(r.oldest)
		r.oldest = (r.oldest + 1) % recentSize
		return s, true
	}
	if r.credit--; r.credit == 0 {
		r.credit = -rest
	}
	return "", false
}

// follow records that a string has followed the last one.
func (r *recent) follow(at uint8) {
	r.next[r.at] = at
	r.at = at
	r.credit = min(r.credit+hitCredit, maxCredit)
}

// plainText returns the text of the string whose first byte after the quote is in[i], valid until
// the next call.
func (d *Decoder) plainText(i int) (b []byte, end int) {
	end, plain := stringEnd(d.in, i)
	if end < 0 {
		return nil, -1
	}
	b = d.in[i : end-1]
	if !plain {
		var ok bool
		if d.buf, ok = unquote(d.buf[:0], b); !ok {
			return nil, -1
		}
		b = d.buf
	}
	return b, end
}

// bytes decodes the base64 of the string whose first byte after the quote is in[i].
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
