// SPDX-License-Identifier: Apache-2.0

package jsondec

// Identity identifies an API object and its state. The fields are parts of the input; an absent
// field is empty.
type Identity struct {
	Kind, APIVersion                      []byte
	Name, Namespace, UID, ResourceVersion []byte
}

// ReadIdentity reads the identity of the API object in raw, and checks that all of raw is valid
// JSON or, with loose, acceptable for a projection without other fields. ok is false if it isn't,
// or if decoding might find another identity: if a relevant member is there twice, is not a string,
// or is written with escape sequences.
func ReadIdentity(raw []byte, loose bool) (id Identity, ok bool) {
	r := idReader{in: raw, loose: loose}
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return Identity{}, false
	}
	if i = r.members(i+1, false); i < 0 || skipSpace(raw, i) != len(raw) {
		return Identity{}, false
	}
	return r.id, true
}

// GuessIdentity reads the identity from the beginning of raw, as written by API servers: up to uid
// and resourceVersion, or else the end of the metadata. It checks nothing. It shows whether
// [ReadIdentity] is worth its time.
func GuessIdentity(raw []byte) Identity {
	r := idReader{in: raw, guessing: true}
	if i := skipSpace(raw, 0); i < len(raw) && raw[i] == '{' {
		r.members(i+1, false)
	}
	return r.id
}

type idReader struct {
	in       []byte
	guessing bool // stop once uid and resourceVersion are known
	loose    bool // find only the end of other members
	id       Identity
	seen     uint8 // a bit for each member read
}

const (
	uidBit             = 1 << 3
	resourceVersionBit = 1 << 4
	stateBits          = uidBit | resourceVersionBit
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
	case metadata || name != "metadata":
		if r.loose {
			return skipLoosely(r.in, i)
		}
		return skip(r.in, i)
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
		if !r.guessing || r.seen&stateBits != stateBits {
			return end
		}
	}
	return -1
}
