// SPDX-License-Identifier: Apache-2.0

package jsondec

// Identity identifies an API object and its state. The fields are parts of the input; an absent
// field is empty.
type Identity struct {
	Kind, APIVersion                      []byte
	Name, Namespace, UID, ResourceVersion []byte
	Controller                            Owner
}

// Owner is an owner reference.
type Owner struct {
	APIVersion, Kind, Name, UID []byte
	// IsController is false in the zero Owner, which stands for none.
	IsController bool
}

// Parts are choices about the identity to read.
type Parts struct {
	// Loose accepts what is acceptable for a projection without other fields.
	Loose bool
	// Controller reads Identity.Controller, which is zero otherwise.
	Controller bool
}

// ReadIdentity reads the identity of the API object in raw, and checks that all of raw is valid
// JSON, unless parts is loose. ok is false if it isn't, or if decoding might find another identity:
// if a relevant member is there twice, has another type, or is written with escape sequences.
func ReadIdentity(raw []byte, parts Parts) (id Identity, ok bool) {
	r := idReader{in: raw, parts: parts}
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return Identity{}, false
	}
	if i = r.members(i+1, false); i < 0 || skipSpace(raw, i) != len(raw) {
		return Identity{}, false
	}
	return r.id, true
}

// GuessIdentity reads the identity from the beginning of raw, as written by API servers: up to uid,
// resourceVersion and, with parts.Controller, ownerReferences, or else the end of the metadata. It
// checks nothing. It shows whether [ReadIdentity] is worth its time.
func GuessIdentity(raw []byte, parts Parts) Identity {
	r := idReader{in: raw, guessing: true, parts: parts}
	r.enough = uidBit | resourceVersionBit
	if parts.Controller {
		r.enough |= ownersBit
	}
	if i := skipSpace(raw, 0); i < len(raw) && raw[i] == '{' {
		r.members(i+1, false)
	}
	return r.id
}

type idReader struct {
	in       []byte
	guessing bool // stop once the members in enough are known
	parts    Parts
	id       Identity
	seen     uint8 // a bit for each member read
	enough   uint8
}

const (
	uidBit             = 1 << 3
	resourceVersionBit = 1 << 4
	ownersBit          = 1 << 7
)

// members reads the object, or its metadata, whose brace is before in[i].
func (r *idReader) members(i int, metadata bool) int {
	if i = skipSpace(r.in, i); i < len(r.in) && r.in[i] == '}' {
		return i + 1
	}
	for more := true; more; {
		name, end := memberName(r.in, i)
		if end < 0 {
			return -1
		}
		if i = r.value(end, string(name), metadata); i < 0 {
			return -1
		}
		if i, more = next(r.in, i, '}'); i < 0 {
			return -1
		}
	}
	return i
}

func (r *idReader) value(i int, name string, metadata bool) int {
	var field *[]byte
	bit := uint8(1)
	switch {
	case metadata && name == "name":
		field, bit = &r.id.Name, 1<<1
	case metadata && name == "namespace":
		field, bit = &r.id.Namespace, 1<<2
	case metadata && name == "uid":
		field, bit = &r.id.UID, uidBit
	case metadata && name == "resourceVersion":
		field, bit = &r.id.ResourceVersion, resourceVersionBit
	case !metadata && name == "kind":
		field, bit = &r.id.Kind, 1<<5
	case !metadata && name == "apiVersion":
		field, bit = &r.id.APIVersion, 1<<6
	case metadata && name == "ownerReferences" && r.parts.Controller:
		bit = ownersBit
	case metadata || name != "metadata":
		return r.skip(i)
	}
	if r.seen&bit != 0 {
		return -1
	}
	r.seen |= bit
	if i = skipSpace(r.in, i); i == len(r.in) {
		return -1
	}
	switch c := r.in[i]; {
	case c == 'n':
		return literalEnd(r.in, i, "null")
	case bit == ownersBit:
		if end := r.owners(i); end >= 0 && (!r.guessing || r.seen&r.enough != r.enough) {
			return end
		}
	case field == nil && c == '{':
		if i = r.members(i+1, true); !r.guessing {
			return i
		}
	case field != nil && c == '"':
		end, plain := stringEnd(r.in, i+1)
		if !plain {
			return -1
		}
		*field = r.in[i+1 : end-1]
		if !r.guessing || r.seen&r.enough != r.enough {
			return end
		}
	}
	return -1
}

func (r *idReader) skip(i int) int {
	if r.parts.Loose {
		return skipLoosely(r.in, i)
	}
	return skip(r.in, i)
}

// owners reads the array of owner references at in[i], and keeps the first one with controller:
// true.
func (r *idReader) owners(i int) int {
	if r.in[i] != '[' {
		return -1
	}
	if i = skipSpace(r.in, i+1); i < len(r.in) && r.in[i] == ']' {
		return i + 1
	}
	for more := true; more; {
		var o Owner
		if i = r.owner(i, &o); i < 0 {
			return -1
		}
		if o.IsController && !r.id.Controller.IsController {
			r.id.Controller = o
		}
		if i, more = next(r.in, i, ']'); i < 0 {
			return -1
		}
	}
	return i
}

func (r *idReader) owner(i int, o *Owner) int {
	if i = skipSpace(r.in, i); i == len(r.in) || r.in[i] != '{' {
		return -1
	}
	if i = skipSpace(r.in, i+1); i < len(r.in) && r.in[i] == '}' {
		return i + 1
	}
	seen := uint8(0)
	for more := true; more; {
		name, end := memberName(r.in, i)
		if end < 0 {
			return -1
		}
		var field *[]byte
		bit := uint8(0)
		switch string(name) {
		case "apiVersion":
			field, bit = &o.APIVersion, 1<<0
		case "kind":
			field, bit = &o.Kind, 1<<1
		case "name":
			field, bit = &o.Name, 1<<2
		case "uid":
			field, bit = &o.UID, 1<<3
		case "controller":
			bit = 1 << 4
		}
		if seen&bit != 0 {
			return -1
		}
		seen |= bit
		switch {
		case bit == 0:
			i = r.skip(end)
		case field == nil:
			i = r.flag(end, &o.IsController)
		default:
			i = r.text(end, field)
		}
		if i < 0 {
			return -1
		}
		if i, more = next(r.in, i, '}'); i < 0 {
			return -1
		}
	}
	return i
}

func (r *idReader) flag(i int, to *bool) int {
	if i = skipSpace(r.in, i); i == len(r.in) {
		return -1
	}
	switch r.in[i] {
	case 't':
		*to = true
		return literalEnd(r.in, i, "true")
	case 'f':
		return literalEnd(r.in, i, "false")
	}
	return literalEnd(r.in, i, "null")
}

// text reads a string without escape sequences, or null.
func (r *idReader) text(i int, to *[]byte) int {
	if i = skipSpace(r.in, i); i == len(r.in) {
		return -1
	}
	if r.in[i] != '"' {
		return literalEnd(r.in, i, "null")
	}
	end, plain := stringEnd(r.in, i+1)
	if !plain {
		return -1
	}
	*to = r.in[i+1 : end-1]
	return end
}
