// SPDX-License-Identifier: Apache-2.0

// Package rawjson reads and writes the metadata of API objects in their JSON, and cuts out members.
// It leaves all other bytes as they are.
package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Header is the part of an object read by a [Reader].
type Header struct {
	APIVersion, Kind     string // "" if missing
	Namespace, Name, UID string
	Version              uint64 // 0 if missing
	Labels               map[string]string
	// Fields are the values of the reader's fields, if present.
	Fields map[string]string

	metadata         extent // between the braces
	uidAt, versionAt extent
	cuts             []extent // members to drop, in order
}

// extent is the position of a value in the data. The zero extent means there is none.
type extent struct{ from, to int }

// Parse is [Reader.Parse] of a reader without fields and paths to drop.
func Parse(data []byte) (Header, error) { return metadataReader.Parse(data) }

// SetVersion returns a copy of an object's JSON with this resourceVersion. It fails like Parse.
func SetVersion(data []byte, version uint64) ([]byte, error) {
	h, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return set(data, h, h.versionAt, "resourceVersion", strconv.FormatUint(version, 10))
}

// SetIdentity returns a copy of an object's JSON with this uid and resourceVersion. It fails like
// Parse.
func SetIdentity(data []byte, uid string, version uint64) ([]byte, error) {
	h, err := Parse(data)
	if err != nil {
		return nil, err
	}
	setUID := func(data []byte) ([]byte, error) {
		if uid == h.UID {
			return data, nil
		}
		return set(data, h, h.uidAt, "uid", uid)
	}
	setVersion := func(data []byte) ([]byte, error) {
		return set(data, h, h.versionAt, "resourceVersion", strconv.FormatUint(version, 10))
	}
	first, second := setUID, setVersion
	if h.uidAt.from < h.versionAt.from { // the later one first: the other's extent stays valid
		first, second = second, first
	}
	if data, err = first(data); err != nil {
		return nil, err
	}
	return second(data)
}

// Stamp returns a copy of an object's JSON, whose header is h, without the members to drop. It adds
// apiVersion and kind if the object has neither. It fails if one of them is not valid UTF-8.
func (h *Header) Stamp(data []byte, apiVersion, kind string) ([]byte, error) {
	var stamped []byte
	from := 0
	if h.APIVersion == "" && h.Kind == "" {
		head, wrongKind := jsontext.AppendQuote([]byte(`{"kind":`), kind)
		head, wrongVersion := jsontext.AppendQuote(append(head, `,"apiVersion":`...), apiVersion)
		if err := errors.Join(wrongKind, wrongVersion); err != nil {
			return nil, fmt.Errorf("setting .kind and .apiVersion: %w", err)
		}
		stamped = append(head, ',') // the object has members, such as metadata
		from = bytes.IndexByte(data, '{') + len("{")
	}
	dropped := 0
	for _, c := range h.cuts {
		dropped += c.to - c.from
	}
	stamped = slices.Grow(stamped, len(data)-from-dropped)
	for _, c := range h.cuts {
		stamped = append(stamped, data[from:c.from]...)
		from = c.to
	}
	return append(stamped, data[from:]...), nil
}

// Metadata returns the metadata in an object's JSON, with its braces, as a slice of data. It fails
// like Parse.
func Metadata(data []byte) ([]byte, error) {
	h, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return data[h.metadata.from-len("{") : h.metadata.to+len("}")], nil
}

// set returns a copy of data with the value at an extent replaced. If there is none, the member is
// put before the others of the metadata.
func set(data []byte, h Header, at extent, name, value string) ([]byte, error) {
	quoted, err := jsontext.AppendQuote(nil, value)
	if err != nil {
		return nil, fmt.Errorf("setting .metadata.%s: %w", name, err)
	}
	if at == (extent{}) {
		at = extent{h.metadata.from, h.metadata.from}
		quoted = slices.Concat([]byte(`"`+name+`":`), quoted, []byte(","))
	}
	return slices.Concat(data[:at.from], quoted, data[at.to:]), nil
}
