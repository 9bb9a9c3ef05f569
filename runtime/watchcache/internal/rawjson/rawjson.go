// SPDX-License-Identifier: Apache-2.0

// Package rawjson reads and writes the metadata of API objects in their JSON, and leaves all other
// bytes as they are.
package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Header is what is read of an object.
type Header struct {
	APIVersion, Kind     string // "" if the object has none
	Namespace, Name, UID string
	Version              uint64 // 0 if the object has none
	Labels               map[string]string
	// Fields are the values of those of the wanted fields that the object has.
	Fields map[string]string

	metadata         extent // between the braces
	uidAt, versionAt extent
}

// extent is where a value is in the data. The zero extent means that there is no such value.
type extent struct{ from, to int }

// errNoName is what [Parse] wraps if metadata.name is missing.
var errNoName = errors.New("metadata.name is missing")

// Parse reads an object. fields are the wanted fields, such as "spec.nodeName". It fails if data is
// not a JSON object with a metadata.name, or if a value has the wrong type.
func Parse(data []byte, fields []string) (Header, error) {
	p := parser{data: data, fields: fields, decoder: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true))}
	err := p.object("")
	if err == nil {
		err = p.end()
	}
	if err == nil && p.Name == "" {
		err = errNoName
	}
	if err != nil {
		return Header{}, fmt.Errorf("reading the metadata of an object: %w", err)
	}
	return p.Header, nil
}

// SetVersion returns a copy of an object's JSON with this resourceVersion. It fails like Parse.
func SetVersion(data []byte, version uint64) ([]byte, error) {
	h, err := Parse(data, nil)
	if err != nil {
		return nil, err
	}
	return set(data, h, h.versionAt, "resourceVersion", strconv.FormatUint(version, 10))
}

// SetIdentity returns a copy of an object's JSON with this uid and resourceVersion. It fails like
// Parse.
func SetIdentity(data []byte, uid string, version uint64) ([]byte, error) {
	h, err := Parse(data, nil)
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
	if h.uidAt.from < h.versionAt.from { // what stands behind the other one must be set first
		first, second = second, first
	}
	if data, err = first(data); err != nil {
		return nil, err
	}
	return second(data)
}

// Stamp returns a copy of an object's JSON, whose header is h, with this apiVersion and kind, if it
// has neither. It fails if one of them is not valid UTF-8.
func (h *Header) Stamp(data []byte, apiVersion, kind string) ([]byte, error) {
	if h.APIVersion != "" || h.Kind != "" {
		return bytes.Clone(data), nil
	}
	head, wrongKind := jsontext.AppendQuote([]byte(`{"kind":`), kind)
	head, wrongVersion := jsontext.AppendQuote(append(head, `,"apiVersion":`...), apiVersion)
	if err := errors.Join(wrongKind, wrongVersion); err != nil {
		return nil, fmt.Errorf("setting .kind and .apiVersion: %w", err)
	}
	rest := bytes.TrimLeft(data, " \t\r\n")[1:] // it has members, such as metadata
	return slices.Concat(head, []byte(","), rest), nil
}

// Metadata returns the metadata of an object's JSON, with its braces, as a part of data. It fails
// like Parse.
func Metadata(data []byte) ([]byte, error) {
	h, err := Parse(data, nil)
	if err != nil {
		return nil, err
	}
	return data[h.metadata.from-len("{") : h.metadata.to+len("}")], nil
}

// set returns a copy of data with a value in place of the one at an extent. If there is none, the
// member becomes the first one of the metadata, which has others.
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

// parser reads one object.
type parser struct {
	Header
	data    []byte
	fields  []string
	decoder *jsontext.Decoder
}

// object reads the object that follows. prefix is its path with a dot at the end, or "" for the
// whole.
func (p *parser) object(prefix string) error {
	switch token, err := p.decoder.ReadToken(); {
	case err != nil:
		return err
	case token.Kind() == 'n' && prefix != "":
		return nil
	case token.Kind() != '{':
		return fmt.Errorf("want an object at %q", strings.TrimSuffix(prefix, "."))
	}
	if prefix == "metadata." {
		p.metadata.from = int(p.decoder.InputOffset())
	}
	for p.decoder.PeekKind() != '}' {
		name, err := p.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := p.member(prefix + name.String()); err != nil {
			return err
		}
	}
	_, err := p.decoder.ReadToken()
	if prefix == "metadata." {
		p.metadata.to = int(p.decoder.InputOffset()) - len("}")
	}
	return err
}

// end checks that nothing follows the object.
func (p *parser) end() error {
	if _, err := p.decoder.ReadToken(); err == nil {
		return errors.New("more than one value")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// member reads the value at path.
func (p *parser) member(path string) (err error) {
	switch path {
	case "apiVersion":
		p.APIVersion, err = p.text(path)
	case "kind":
		p.Kind, err = p.text(path)
	case "metadata":
		return p.object("metadata.")
	case "metadata.name":
		p.Name, err = p.text(path)
	case "metadata.namespace":
		p.Namespace, err = p.text(path)
	case "metadata.uid":
		p.uidAt, p.UID, err = p.located(path)
	case "metadata.labels":
		return p.labels()
	case "metadata.resourceVersion":
		return p.version()
	default:
		return p.field(path)
	}
	return err
}

// field reads the value at path if it is that of a wanted field, or has some in it, and skips it
// otherwise.
func (p *parser) field(path string) error {
	within := false
	for _, field := range p.fields {
		if field == path {
			return p.scalar(path)
		}
		rest, ok := strings.CutPrefix(field, path)
		within = within || ok && rest[0] == '.'
	}
	if within && p.decoder.PeekKind() == '{' {
		return p.object(path + ".")
	}
	return p.decoder.SkipValue()
}

// scalar reads the value of a wanted field. Objects and arrays have none.
func (p *parser) scalar(path string) error {
	switch p.decoder.PeekKind() {
	case '{', '[', 'n':
		return p.decoder.SkipValue()
	}
	token, err := p.decoder.ReadToken()
	if err != nil {
		return err
	}
	if p.Fields == nil {
		p.Fields = map[string]string{}
	}
	p.Fields[path] = token.String()
	return nil
}

// text reads a string. null is the empty one.
func (p *parser) text(path string) (string, error) {
	switch p.decoder.PeekKind() {
	case 'n':
		return "", p.decoder.SkipValue()
	case '"':
		token, err := p.decoder.ReadToken()
		return token.String(), err
	}
	return "", fmt.Errorf(".%s: want a string", path)
}

func (p *parser) labels() error {
	if p.decoder.PeekKind() == 'n' {
		return p.decoder.SkipValue()
	}
	if p.decoder.PeekKind() != '{' {
		return errors.New(".metadata.labels: want an object")
	}
	if _, err := p.decoder.ReadToken(); err != nil {
		return err
	}
	p.Labels = map[string]string{}
	for p.decoder.PeekKind() != '}' {
		name, err := p.decoder.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		if p.Labels[key], err = p.text("metadata.labels." + key); err != nil {
			return err
		}
	}
	_, err := p.decoder.ReadToken()
	return err
}

func (p *parser) version() (err error) {
	var text string
	if p.versionAt, text, err = p.located("metadata.resourceVersion"); err != nil || text == "" {
		return err
	}
	if p.Version, err = strconv.ParseUint(text, 10, 64); err != nil {
		return fmt.Errorf(".metadata.resourceVersion: %w", err)
	}
	return nil
}

// located reads a string like text, and returns where it is.
func (p *parser) located(path string) (at extent, value string, err error) {
	kind := p.decoder.PeekKind()
	if value, err = p.text(path); err != nil {
		return at, "", err
	}
	at.to = int(p.decoder.InputOffset())
	if at.from = at.to - len("null"); kind == '"' {
		at.from = at.to - len(value) - len(`""`)
		if string(p.data[at.from:at.to]) != `"`+value+`"` {
			return at, "", fmt.Errorf(".%s: has escaped characters", path)
		}
	}
	return at, value, nil
}
