// SPDX-License-Identifier: Apache-2.0

package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/informer-gen/informer-gen/server/internal/fieldpath"
)

// Reader reads the headers of objects of one kind. It is immutable.
type Reader struct{ root *member }

// member is a member to read or drop, or one with such members inside.
type member struct {
	path    string // such as metadata.name
	role    role
	drop    bool
	members map[string]*member // by name
}

type role uint8

const (
	roleNone role = iota // none itself, but members inside may have one
	roleAPIVersion
	roleKind
	roleMetadata
	roleName
	roleNamespace
	roleUID
	roleVersion
	roleLabels
	roleField
)

var metadataReader = func() *Reader {
	root := &member{}
	for path, role := range map[string]role{
		"apiVersion": roleAPIVersion, "kind": roleKind, "metadata": roleMetadata, "metadata.name": roleName,
		"metadata.namespace": roleNamespace, "metadata.uid": roleUID, "metadata.resourceVersion": roleVersion,
		"metadata.labels": roleLabels,
	} {
		root = root.with(strings.Split(path, "."), func(n *member) { n.role = role })
	}
	return &Reader{root}
}()

// NewReader returns a reader that also reads fields, such as "spec.nodeName", and drops the members
// at some paths. It fails if one of these isn't a valid path of package fieldpath.
func NewReader(fields, drop []string) (*Reader, error) {
	root := metadataReader.root
	for _, path := range fields {
		root = root.with(strings.Split(path, "."), func(n *member) {
			if n.role == roleNone {
				n.role = roleField
			}
		})
	}
	for _, path := range drop {
		names, err := fieldpath.Parse(path)
		if err != nil {
			return nil, err
		}
		root = root.with(names, func(n *member) { n.drop = true })
	}
	return &Reader{root}, nil
}

// with returns a copy of n with a change to the member at a path. All other members are shared.
func (n *member) with(names []string, change func(*member)) *member {
	c := *n
	if len(names) == 0 {
		change(&c)
		return &c
	}
	child := n.members[names[0]]
	if child == nil {
		child = &member{path: strings.TrimPrefix(n.path+"."+names[0], ".")}
	}
	c.members = make(map[string]*member, len(n.members)+1)
	maps.Copy(c.members, n.members)
	c.members[names[0]] = child.with(names[1:], change)
	return &c
}

var decoders = sync.Pool{New: func() any { return &jsontext.Decoder{} }}

// emptyReader is the input of pooled decoders, so that they keep no object's bytes.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

var errNoName = errors.New("metadata.name is missing")

// Parse reads an object. It fails if data is not a JSON object with a metadata.name, or if a value
// has the wrong type.
func (r *Reader) Parse(data []byte) (Header, error) {
	p := parser{data: data, decoder: decoders.Get().(*jsontext.Decoder)}
	defer decoders.Put(p.decoder)
	p.decoder.Reset(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	defer p.decoder.Reset(emptyReader{})
	err := p.object(r.root)
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

type parser struct {
	Header
	data    []byte
	decoder *jsontext.Decoder
}

// object reads the next object, and cuts out members. A cut includes the comma before the member,
// or, while no member before it is kept, the comma after it.
func (p *parser) object(n *member) error {
	switch token, err := p.decoder.ReadToken(); {
	case err != nil:
		return err
	case token.Kind() == 'n' && n.path != "":
		return nil
	case token.Kind() != '{':
		return fmt.Errorf("want an object at %q", n.path)
	}
	begin := int(p.decoder.InputOffset())
	kept := false
	for p.decoder.PeekKind() != '}' {
		before := int(p.decoder.InputOffset())
		quoted, err := p.decoder.ReadValue()
		if err != nil {
			return err
		}
		start := int(p.decoder.InputOffset()) - len(quoted)
		member := n.members[string(quoted[1:len(quoted)-1])]
		if member == nil && bytes.IndexByte(quoted, '\\') >= 0 {
			name, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return err
			}
			member = n.members[string(name)]
		}
		cuts := len(p.cuts)
		if err := p.member(member); err != nil {
			return err
		}
		switch {
		case p.drops(member):
			p.cuts = append(p.cuts[:cuts], extent{before, int(p.decoder.InputOffset())})
		case !kept && before > begin:
			p.cuts = slices.Insert(p.cuts, cuts, extent{before, start})
			kept = true
		default:
			kept = true
		}
	}
	if _, err := p.decoder.ReadToken(); err != nil {
		return err
	}
	if n.role == roleMetadata {
		p.metadata = extent{begin, int(p.decoder.InputOffset()) - len("}")}
	}
	return nil
}

// drops reports whether a member is cut out. An empty apiVersion or kind is, because [Header.Stamp]
// treats it as missing.
func (p *parser) drops(n *member) bool {
	switch {
	case n == nil:
		return false
	case n.role == roleAPIVersion:
		return p.APIVersion == ""
	case n.role == roleKind:
		return p.Kind == ""
	}
	return n.drop
}

func (p *parser) end() error {
	if _, err := p.decoder.ReadToken(); err == nil {
		return errors.New("more than one value")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// member reads the value of a member. A nil member is kept unread.
func (p *parser) member(n *member) (err error) {
	if n == nil {
		return p.decoder.SkipValue()
	}
	switch n.role {
	case roleAPIVersion:
		p.APIVersion, err = p.text(n.path)
	case roleKind:
		p.Kind, err = p.text(n.path)
	case roleMetadata:
		return p.object(n)
	case roleName:
		p.Name, err = p.text(n.path)
	case roleNamespace:
		p.Namespace, err = p.text(n.path)
	case roleUID:
		p.uidAt, p.UID, err = p.textAt(n.path)
	case roleVersion:
		return p.version(n.path)
	case roleLabels:
		return p.labels()
	case roleField:
		return p.scalar(n)
	case roleNone:
		return p.skipOrObject(n)
	}
	return err
}

func (p *parser) skipOrObject(n *member) error {
	if len(n.members) > 0 && p.decoder.PeekKind() == '{' {
		return p.object(n)
	}
	return p.decoder.SkipValue()
}

func (p *parser) scalar(n *member) error {
	switch p.decoder.PeekKind() {
	case '{', '[', 'n':
		return p.skipOrObject(n)
	}
	token, err := p.decoder.ReadToken()
	if err != nil {
		return err
	}
	if p.Fields == nil {
		p.Fields = map[string]string{}
	}
	p.Fields[n.path] = token.String()
	return nil
}

// text reads a string. null counts as "".
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

func (p *parser) version(path string) (err error) {
	var text string
	if p.versionAt, text, err = p.textAt(path); err != nil || text == "" {
		return err
	}
	if p.Version, err = strconv.ParseUint(text, 10, 64); err != nil {
		return fmt.Errorf(".%s: %w", path, err)
	}
	return nil
}

// textAt reads a string like text, and returns its position, too.
func (p *parser) textAt(path string) (at extent, value string, err error) {
	kind := p.decoder.PeekKind()
	if value, err = p.text(path); err != nil {
		return at, "", err
	}
	at.to = int(p.decoder.InputOffset())
	if at.from = at.to - len("null"); kind == '"' {
		at.from = at.to - len(value) - len(`""`)
		// Invalid characters take more bytes in value than in data.
		if at.from < 0 || string(p.data[at.from:at.to]) != `"`+value+`"` {
			return at, "", fmt.Errorf(".%s: has escaped or invalid characters", path)
		}
	}
	return at, value, nil
}
