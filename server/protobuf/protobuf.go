// SPDX-License-Identifier: Apache-2.0

// Package protobuf reads and writes API objects in Kubernetes' protobuf, for watch caches that keep
// them so. It knows no types: it reads metadata and declared fields by their numbers, and leaves
// all other bytes as they are.
//
// The Bytes of an object are only its message. So a list copies none. Single objects and events
// have an envelope with their kind:
//
//	list   envelope{ {1: metadata, 2: object, 2: object, …} }
//	event  length{ 1: type, 2: {1: envelope{ object }} }
//	envelope{ x } = "k8s\0" {1: {1: apiVersion, 2: kind}, 2: x}
//
// The length has four bytes, big-endian.
package protobuf

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field numbers common to every object, list and envelope.
const (
	metadataNumber = 1

	nameNumber        = 1
	namespaceNumber   = 3
	uidNumber         = 5
	versionNumber     = 6
	labelsNumber      = 11
	annotationsNumber = 12

	itemsNumber = 2

	shardInfoNumber = 5
	selectorNumber  = 1

	typeNumber = 1
	rawNumber  = 2
)

const prefix = "k8s\x00"

// AppendObject appends an object's message in its envelope: the answer to a get.
func AppendObject(dst []byte, kind metav1.TypeMeta, message []byte) []byte {
	return appendBytes(appendHeader(dst, kind), rawNumber, message)
}

func appendHeader(dst []byte, kind metav1.TypeMeta) []byte {
	size := protowire.SizeTag(1) + protowire.SizeBytes(len(kind.APIVersion)) + protowire.SizeTag(2) + protowire.SizeBytes(len(kind.Kind))
	dst = appendLength(append(dst, prefix...), typeNumber, size)
	return appendString(appendString(dst, 1, kind.APIVersion), 2, kind.Kind)
}

func headerSize(kind metav1.TypeMeta) int {
	var room [128]byte
	return len(appendHeader(room[:0], kind))
}

// WriteList writes a list of messages; kind is the list's. It iterates over the items twice, since
// sizes come first. shard, unless "", is the selector in shardInfo, which older versions of meta
// lack. It fails if w does, or if meta can't be encoded.
func WriteList(w io.Writer, kind metav1.TypeMeta, meta metav1.ListMeta, shard string, items iter.Seq[[]byte]) error {
	metadata, err := meta.Marshal()
	if err != nil {
		return fmt.Errorf("encoding the metadata of a list: %w", err)
	}
	if shard != "" {
		metadata = appendBytes(metadata, shardInfoNumber, appendString(nil, selectorNumber, shard))
	}
	size := sizeOf(metadataNumber, len(metadata))
	for item := range items {
		size += sizeOf(itemsNumber, len(item))
	}
	head := appendLength(appendHeader(nil, kind), rawNumber, size)
	if _, err := w.Write(appendBytes(head, metadataNumber, metadata)); err != nil {
		return err
	}
	var length [16]byte
	for item := range items {
		if _, err := w.Write(appendLength(length[:0], itemsNumber, len(item))); err != nil {
			return err
		}
		if _, err := w.Write(item); err != nil {
			return err
		}
	}
	return nil
}

// Metadata returns the metadata of an object's message, which is also the message of a
// PartialObjectMetadata, as a slice of message. It fails if message is malformed or has none.
func Metadata(message []byte) (metadata []byte, err error) {
	err = fields(message, func(f *wireField) error {
		if f.is(metadataNumber) {
			metadata = f.raw
		}
		return nil
	})
	if err == nil && metadata == nil {
		err = errors.New("a protobuf message has no metadata")
	}
	return metadata, err
}

func setVersion(message []byte, version string) ([]byte, error) {
	updated := make([]byte, 0, len(message)+sizeOf(versionNumber, len(version)))
	err := fields(message, func(f *wireField) error {
		if !f.is(metadataNumber) {
			updated = append(updated, f.raw...)
			return nil
		}
		var meta []byte
		err := fields(f.value, func(f *wireField) error {
			if !f.is(versionNumber) {
				meta = append(meta, f.raw...)
			}
			return nil
		})
		updated = appendBytes(updated, metadataNumber, appendString(meta, versionNumber, version))
		return err
	})
	return updated, err
}

type wireField struct {
	number protowire.Number
	typ    protowire.Type
	value  []byte // of a message or a string
	varint uint64 // of a number
	raw    []byte // the field with its number
}

func (f *wireField) is(number protowire.Number) bool {
	return f.number == number && f.typ == protowire.BytesType
}

// fields calls visit with each field of a message. It returns visit's first error, or an error if
// the message is malformed.
func fields(message []byte, visit func(*wireField) error) error {
	for len(message) > 0 {
		number, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return malformed(n)
		}
		f := wireField{number: number, typ: typ}
		m := 0
		switch typ {
		case protowire.BytesType:
			f.value, m = protowire.ConsumeBytes(message[n:])
		case protowire.VarintType:
			f.varint, m = protowire.ConsumeVarint(message[n:])
		default:
			m = protowire.ConsumeFieldValue(number, typ, message[n:])
		}
		if m < 0 {
			return malformed(m)
		}
		f.raw = message[: n+m : n+m]
		if err := visit(&f); err != nil {
			return err
		}
		message = message[n+m:]
	}
	return nil
}

func malformed(code int) error {
	return fmt.Errorf("malformed protobuf: %w", protowire.ParseError(code))
}

func sizeOf(number protowire.Number, length int) int {
	return protowire.SizeTag(number) + protowire.SizeBytes(length)
}

func appendLength(dst []byte, number protowire.Number, length int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.BytesType), uint64(length))
}

func appendBytes(dst []byte, number protowire.Number, value []byte) []byte {
	return append(appendLength(dst, number, len(value)), value...)
}

func appendString(dst []byte, number protowire.Number, value string) []byte {
	return append(appendLength(dst, number, len(value)), value...)
}
