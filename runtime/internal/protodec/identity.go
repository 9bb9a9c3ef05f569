// SPDX-License-Identifier: Apache-2.0

package protodec

// Identity identifies an object and its state. The bytes are parts of the input.
type Identity struct{ Name, Namespace, UID, ResourceVersion []byte }

// ReadIdentity reads the identity of an object without decoding it. It returns false if Decode
// would decline the fields it reads.
func ReadIdentity(object []byte) (id Identity, ok bool) {
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
