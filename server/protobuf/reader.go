// SPDX-License-Identifier: Apache-2.0

package protobuf

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/internal/fieldpath"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Reader reads objects of one kind. It is immutable. [NewReader] makes one.
type Reader struct {
	fields []declaredField
	drop   *dropTree // nil: nothing
}

type declaredField struct {
	name    string
	numbers []protowire.Number
	isBool  bool
}

// dropTree describes the parts of a message to drop, by field numbers.
type dropTree struct {
	all    bool                           // the whole message
	fields map[protowire.Number]*dropTree // parts of its fields
	keys   map[string]bool                // keys of its fields, if they are map entries
}

// NewReader returns a reader of objects with these declared fields, such as "spec.nodeName". It
// drops the fields at paths such as .metadata.managedFields,
// .metadata.annotations["example.com/note"] and .spec.template. It fails if the schema lacks a
// field or path outside metadata, or if a cache needs a path.
func NewReader(s Schema, fields, drop []string) (*Reader, error) {
	r := &Reader{}
	for _, name := range fields {
		numbers, ok := s.numbers(name)
		if !ok {
			return nil, fmt.Errorf("the field %s has no number in the protobuf schema; add it", name)
		}
		r.fields = append(r.fields, declaredField{name, numbers, s[name].Bool})
	}
	for _, path := range drop {
		names, err := fieldpath.Parse(path)
		if err != nil {
			return nil, err
		}
		if r.drop == nil {
			r.drop = &dropTree{}
		}
		if len(names) == 3 && names[0] == "metadata" && names[1] == "annotations" {
			annotations := r.drop.descend(metadataNumber, annotationsNumber)
			if annotations.keys == nil {
				annotations.keys = map[string]bool{}
			}
			annotations.keys[names[2]] = true
			continue
		}
		numbers, ok := s.numbers(strings.Join(names, "."))
		if !ok {
			return nil, fmt.Errorf("the path %s to drop has no number in the protobuf schema; add it as %s", path, strings.Join(names, "."))
		}
		r.drop.descend(numbers...).all = true
	}
	return r, nil
}

// descend returns the node of the field at numbers, made if needed, for modification.
func (c *dropTree) descend(numbers ...protowire.Number) *dropTree {
	for _, number := range numbers {
		child := c.fields[number]
		if child == nil {
			child = &dropTree{}
			if c.fields == nil {
				c.fields = map[protowire.Number]*dropTree{}
			}
			c.fields[number] = child
		}
		c = child
	}
	return c
}

// Read returns the object of a message; it copies the part to keep. It fails if the message is
// malformed, has no name, or has a resourceVersion that isn't a number.
func (r *Reader) Read(message []byte) (*watchcache.Object, error) {
	o, err := r.read(message)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of an object: %w", err)
	}
	return o, nil
}

func (r *Reader) read(message []byte) (*watchcache.Object, error) {
	var o watchcache.Object
	var key object.Key
	labels := map[string]string{}
	meta := func(f *wireField) (err error) {
		switch {
		case f.is(nameNumber):
			key.Name = string(f.value)
		case f.is(namespaceNumber):
			key.Namespace = string(f.value)
		case f.is(uidNumber):
			o.UID = string(f.value)
		case f.is(versionNumber) && len(f.value) > 0:
			o.Version, err = strconv.ParseUint(string(f.value), 10, 64)
		case f.is(labelsNumber):
			var label, value string
			label, value, err = entry(f.value)
			labels[label] = value
		}
		return err
	}
	err := fields(message, func(f *wireField) error {
		if f.is(metadataNumber) {
			return fields(f.value, meta)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if key.Name == "" {
		return nil, errors.New("metadata.name is missing")
	}
	values := map[string]string{}
	for _, d := range r.fields {
		if err := d.value(message, d.numbers, func(value string) { values[d.name] = value }); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	o.Key, o.Labels, o.Fields = key.String(), watchcache.PairsOf(labels), watchcache.PairsOf(values)
	o.Bytes, err = r.drop.apply(message)
	return &o, err
}

func (d *declaredField) value(message []byte, numbers []protowire.Number, set func(string)) error {
	return fields(message, func(f *wireField) error {
		switch {
		case f.number != numbers[0]:
		case len(numbers) > 1 && f.typ == protowire.BytesType:
			return d.value(f.value, numbers[1:], set)
		case len(numbers) > 1:
		case d.isBool && f.typ == protowire.VarintType:
			set(strconv.FormatBool(f.varint != 0))
		case f.typ == protowire.VarintType:
			set(strconv.FormatInt(int64(f.varint), 10))
		case f.typ == protowire.BytesType && len(f.value) > 0:
			set(string(f.value))
		}
		return nil
	})
}

// apply returns a copy of a message without the dropped parts. A nil tree drops nothing.
func (c *dropTree) apply(message []byte) ([]byte, error) {
	if c == nil {
		return bytes.Clone(message), nil
	}
	kept := make([]byte, 0, len(message))
	err := fields(message, func(f *wireField) error {
		switch child := c.fields[f.number]; {
		case child == nil || f.typ != protowire.BytesType && !child.all:
			kept = append(kept, f.raw...)
		case child.all:
		case child.keys != nil:
			key, _, err := entry(f.value)
			if err != nil {
				return err
			}
			if !child.keys[key] {
				kept = append(kept, f.raw...)
			}
		default:
			value, err := child.apply(f.value)
			if err != nil {
				return err
			}
			kept = appendBytes(kept, f.number, value)
		}
		return nil
	})
	return slices.Clip(kept), err
}

func entry(message []byte) (key, value string, err error) {
	err = fields(message, func(f *wireField) error {
		switch {
		case f.is(1):
			key = string(f.value)
		case f.is(2):
			value = string(f.value)
		}
		return nil
	})
	return key, value, err
}
