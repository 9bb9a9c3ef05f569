// SPDX-License-Identifier: Apache-2.0

package protowire

import (
	"encoding/binary"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
)

// The numbers of fields of ObjectMeta.
const (
	annotations   = 12
	managedFields = 17
)

// Drop removes the dropped parts from an encoded object, in place, and returns the shorter object.
func Drop(msg []byte, drop *dropped.Parts) ([]byte, error) {
	// fields only get shorter, so it never overwrites bytes that are still to be read
	kept := msg[:0]
	for rest := msg; len(rest) > 0; {
		field := rest
		f, after, err := Next(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		if f.Tag != Bytes(1) {
			kept = append(kept, field[:f.Size]...)
			continue
		}
		meta, err := dropMeta(f.Value, drop)
		if err != nil {
			return nil, err
		}
		kept = binary.AppendUvarint(binary.AppendUvarint(kept, f.Tag), uint64(len(meta)))
		kept = append(kept, meta...)
	}
	return kept, nil
}

// dropMeta does the same with the metadata.
func dropMeta(meta []byte, drop *dropped.Parts) ([]byte, error) {
	kept := meta[:0]
	for rest := meta; len(rest) > 0; {
		field := rest
		f, after, err := Next(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		switch f.Tag {
		case Bytes(managedFields):
			if drop.ManagedFields {
				continue
			}
		case Bytes(annotations):
			if drop.Annotations != nil {
				key, err := mapKey(f.Value)
				if err != nil {
					return nil, err
				}
				if drop.Annotations[string(key)] {
					continue
				}
			}
		}
		kept = append(kept, field[:f.Size]...)
	}
	return kept, nil
}

// mapKey returns the key of a map entry, {1: key, 2: value}.
func mapKey(entry []byte) (key []byte, err error) {
	for len(entry) > 0 {
		var f Field
		if f, entry, err = Next(entry); err != nil {
			return nil, err
		}
		if f.Tag == Bytes(1) {
			key = f.Value
		}
	}
	return key, nil
}
