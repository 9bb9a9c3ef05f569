// SPDX-License-Identifier: Apache-2.0

package jsondec

import "github.com/informer-gen/informer-gen/runtime/internal/layout"

// memberOrder is the order of the members in the last object of a type: next[i] is the member that
// followed member i. The last element is the first member.
type memberOrder struct{ next []uint16 }

func (d *Decoder) members(o *object, i int, p layout.Pointer) int {
	in := d.in
	order := d.objects.get(o.number)
	if order == nil {
		if d.program.compiler.compile(o); len(o.members) > maxMembers {
			return -1
		}
		order = d.objects.set(o.number, &memberOrder{next: make([]uint16, len(o.members)+1)})
	}
	if i < len(in) && in[i] != '"' {
		if i = skipSpace(in, i); i < len(in) && in[i] == '}' {
			return i + 1
		}
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	var seen [maxMembers / 64]uint64
	last := len(o.members)
	for {
		// Usually the same member follows as in the last object. If not, it is looked up by name.
		at := int(order.next[last])
		if at < len(o.members) {
			if end := o.members[at].prefix.end(in, i); end > 0 {
				i = end
			} else {
				at = len(o.members)
			}
		}
		if at == len(o.members) {
			name, end := memberName(in, i)
			if end < 0 {
				return -1
			}
			i = end
			known, ok := o.byName[string(name)]
			if at = int(known); ok {
				order.next[last] = known
			} else {
				at = -1
			}
		}
		if at < 0 {
			i = d.skip(i)
		} else {
			last = at
			word, bit := at/64, uint64(1)<<(at%64)
			if seen[word]&bit != 0 {
				return -1
			}
			seen[word] |= bit
			m, outer := &o.members[at], p
			if m.outer != nil {
				outer = allocEmbedded(m.outer, p)
			}
			i = d.value(m.plan, i, layout.At(outer, m.offset))
		}
		if i < 0 || i >= len(in) {
			return -1
		}
		c := in[i]
		if c <= ' ' {
			if i = skipSpace(in, i); i >= len(in) {
				return -1
			}
			c = in[i]
		}
		i++
		if c != ',' {
			if c == '}' {
				d.depth--
				return i
			}
			return -1
		}
	}
}

func (d *Decoder) skip(i int) int {
	if !d.program.loose {
		return skip(d.in, i)
	}
	return skipLoosely(d.in, i)
}

// memberName returns the name of the member at in[i], after optional white space, and the index
// after its colon. The index is -1 if the name is invalid or has escapes.
func memberName(in []byte, i int) (name []byte, end int) {
	if i = skipSpace(in, i); i >= len(in) || in[i] != '"' {
		return nil, -1
	}
	end, plain := stringEnd(in, i+1)
	if !plain {
		return nil, -1
	}
	name = in[i+1 : end-1]
	if end = skipSpace(in, end); end >= len(in) || in[end] != ':' {
		return nil, -1
	}
	return name, end + 1
}

func allocEmbedded(o *embeddedPointer, p layout.Pointer) layout.Pointer {
	if o.outer != nil {
		p = allocEmbedded(o.outer, p)
	}
	at := layout.As[layout.Pointer](layout.At(p, o.offset))
	if *at == nil {
		*at = o.typ.New()
	}
	return *at
}
