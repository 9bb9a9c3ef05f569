// SPDX-License-Identifier: Apache-2.0

package protodec

// Identity identifies an object and its state. The bytes are parts of the input.
type Identity struct {
	Name, Namespace, UID, ResourceVersion []byte
	Controller                            Owner
}

// Owner is an owner reference.
type Owner struct {
	APIVersion, Kind, Name, UID []byte
	// IsController is false in the zero Owner, which stands for none.
	IsController bool
}

// ReadIdentity reads the identity of an object without decoding it; the controller only if wanted.
// It returns false if Decode would decline the fields it reads.
func ReadIdentity(object []byte, controller bool) (id Identity, ok bool) {
	if !hasTag(object, metadataNumber<<3|2) {
		return id, false
	}
	start, end := delimited(object[1:])
	if end == 0 {
		return id, false
	}
	for rest := object[1+end:]; len(rest) > 0; {
		tag, n := readTag(rest)
		size, ok := skip(rest[n:], tag&7)
		if n == 0 || !ok || tag>>3 == metadataNumber {
			return id, false
		}
		rest = rest[n+size:]
	}
	meta := object[1+start : 1+end]
	last := uint32(0)
	for len(meta) > 0 {
		tag, n := readTag(meta)
		if n == 0 || tag>>3 < last {
			return id, false
		}
		again := tag>>3 == last
		last = tag >> 3
		size, ok := skip(meta[n:], tag&7)
		if !ok {
			return id, false
		}
		var field *[]byte
		switch last {
		case nameNumber:
			field = &id.Name
		case namespaceNumber:
			field = &id.Namespace
		case uidNumber:
			field = &id.UID
		case versionNumber:
			field = &id.ResourceVersion
		case ownersNumber:
			if !controller {
				break
			}
			var o Owner
			if start, end := delimited(meta[n:]); tag&7 != 2 || !readOwner(meta[n+start:n+end], &o) {
				return id, false
			}
			if o.IsController && !id.Controller.IsController {
				id.Controller = o
			}
		}
		if field != nil {
			if again || tag&7 != 2 {
				return id, false
			}
			start, end := delimited(meta[n:])
			*field = meta[n+start : n+end]
		}
		meta = meta[n+size:]
	}
	return id, true
}

// The numbers of the fields of an owner reference.
const (
	ownerKindNumber       = 1
	ownerNameNumber       = 3
	ownerUIDNumber        = 4
	ownerAPIVersionNumber = 5
	ownerControllerNumber = 6
)

// readOwner reads an owner reference with its fields in the order of their numbers.
func readOwner(b []byte, o *Owner) bool {
	for last := uint32(0); len(b) > 0; {
		tag, n := readTag(b)
		if n == 0 || tag>>3 <= last {
			return false
		}
		last = tag >> 3
		size, ok := skip(b[n:], tag&7)
		if !ok {
			return false
		}
		var field *[]byte
		switch last {
		case ownerKindNumber:
			field = &o.Kind
		case ownerNameNumber:
			field = &o.Name
		case ownerUIDNumber:
			field = &o.UID
		case ownerAPIVersionNumber:
			field = &o.APIVersion
		case ownerControllerNumber:
			if tag&7 != 0 {
				return false
			}
			v, _ := uvarint(b[n:])
			o.IsController = v != 0
		}
		if field != nil {
			if tag&7 != 2 {
				return false
			}
			start, end := delimited(b[n:])
			*field = b[n+start : n+end]
		}
		b = b[n+size:]
	}
	return true
}
