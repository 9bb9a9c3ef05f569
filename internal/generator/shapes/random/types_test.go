// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// typ is a Go type.
type typ struct {
	kind   string // string, bool or integer; struct, slice, array, map or pointer
	source string // Go source in its package
	fields []field
	key    *typ // of a map
	elem   *typ
	isKey  bool // may be the key of an index
}

// field is a field of a struct. Fields of embedded structs are where JSON has them.
type field struct {
	goName, jsonName string
	t                *typ
	maybe            bool // below an embedded pointer
}

// maker makes types.
type maker struct {
	*rand.Rand
	declarations strings.Builder
	imports      map[string]bool
	n            int
}

// Names that generated code uses itself.
var (
	fieldNames   = []string{"Keys", "Obj", "Ok", "Value", "Key", "I", "Len", "Append", "Namespace", "Snapshot", "String", "Range", "Type"}
	packageNames = []string{"i", "j", "keys", "key", "obj", "ok", "value", "value2", "store", "iter", "lister", "object", "l", "types", "schema", "string", "append"}
)

// basics are basic key types.
var basics = []struct{ source, kind string }{
	{"string", "string"}, {"string", "string"}, {"bool", "bool"}, {"int", "integer"}, {"int8", "integer"}, {"uint16", "integer"},
	{"int32", "integer"}, {"uint64", "integer"}, {"rune", "integer"},
}

func (m *maker) basic() *typ {
	b := basics[m.IntN(len(basics))]
	t := &typ{kind: b.kind, source: b.source, isKey: true}
	switch m.IntN(5) {
	case 0:
		m.declare(t)
	case 1:
		t.source = m.foreign() + map[string]string{"string": "Text", "bool": "Flag", "integer": "Number"}[b.kind]
	}
	return t
}

// foreign returns the qualifier of a random other package.
func (m *maker) foreign() string {
	pkg := packageNames[m.IntN(len(packageNames))]
	m.imports[pkg] = true
	return "p" + pkg + "."
}

// foreignTypes are declared by each package of packageNames.
const foreignTypes = `type (
	Text   string
	Flag   bool
	Number int16
	Pair   struct {
		Left  string
		Right Number
	}
)
`

// declare gives a type a name of its own.
func (m *maker) declare(t *typ) {
	m.n++
	name := fmt.Sprint("T", m.n)
	fmt.Fprintf(&m.declarations, "type %s %s\n\n", name, t.source)
	t.source = name
}

func (m *maker) any(depth int) *typ {
	if depth == 0 {
		return m.basic()
	}
	t := &typ{}
	switch m.IntN(10) {
	case 0, 1:
		return m.basic()
	case 2:
		if t.elem = m.any(depth - 1); t.elem.kind == "pointer" {
			return t.elem
		}
		t.kind, t.source = "pointer", "*"+t.elem.source
		return t
	case 3, 4:
		t.elem = m.any(depth - 1)
		t.kind, t.source = "slice", "[]"+t.elem.source
	case 5:
		t.elem = m.any(depth - 1)
		t.kind, t.source = "array", fmt.Sprintf("[%d]%s", 1+m.IntN(3), t.elem.source)
	case 6, 7:
		t.key, t.elem = m.basic(), m.any(depth-1)
		if m.IntN(6) == 0 {
			t.key = m.comparable()
		}
		t.kind, t.source = "map", "map["+t.key.source+"]"+t.elem.source
	case 8:
		return m.comparable()
	default:
		return m.structure(depth, 2+m.IntN(4))
	}
	if m.IntN(4) == 0 {
		m.declare(t)
	}
	return t
}

// comparable returns a struct that can be a key.
func (m *maker) comparable() *typ {
	if m.IntN(3) == 0 {
		left, right := &typ{kind: "string", isKey: true}, &typ{kind: "integer", isKey: true}
		return &typ{kind: "struct", source: m.foreign() + "Pair", isKey: true, fields: []field{{goName: "Left", t: left}, {goName: "Right", t: right}}}
	}
	a, b := m.basic(), m.basic()
	t := &typ{kind: "struct", isKey: true, fields: []field{m.field(a, ""), m.field(b, "")}}
	t.source = fmt.Sprintf("struct {\n%s\tInner struct { A [2]%s `json:\"a\"` } `json:\"inner\"`\n}", lines(t.fields), a.source)
	m.declare(t)
	return t
}

// structure returns a struct with some fields, and those of some embedded structs.
func (m *maker) structure(depth, fields int) *typ {
	t := &typ{kind: "struct"}
	for range fields {
		t.fields = append(t.fields, m.field(m.any(depth-1), ""))
	}
	source := lines(t.fields)
	for range m.IntN(3) {
		if depth < 2 {
			break
		}
		inner := m.structure(depth-1, 1+m.IntN(2))
		if !strings.HasPrefix(inner.source, "T") {
			m.declare(inner)
		}
		star, name := "", inner.source
		switch m.IntN(3) {
		case 0:
			star = "*"
		case 1: // an unexported one
			name = "t" + strings.TrimPrefix(inner.source, "T")
			fmt.Fprintf(&m.declarations, "type %s %s\n\n", name, inner.source)
		}
		if m.IntN(4) == 0 && name == inner.source {
			f := m.field(inner, name)
			if star != "" {
				f.t = &typ{kind: "pointer", source: "*" + name, elem: inner}
			}
			source += fmt.Sprintf("\t%s%s `json:%q`\n", star, name, f.jsonName)
			t.fields = append(t.fields, f)
			continue
		}
		source += fmt.Sprintf("\t%s%s `json:\",inline\"`\n", star, name)
		for _, f := range inner.fields {
			f.maybe = f.maybe || star != ""
			t.fields = append(t.fields, f)
		}
	}
	t.source = "struct {\n" + source + "}"
	if m.IntN(4) > 0 {
		m.declare(t)
	}
	return t
}

// field returns a field with a unique name, so that none hides a deeper one; package gotypes tests
// those.
func (m *maker) field(t *typ, goName string) field {
	m.n++
	name := fmt.Sprint(fieldNames[m.IntN(len(fieldNames))], m.n)
	f := field{goName: goName, jsonName: strings.ToLower(name), t: t}
	if goName == "" {
		f.goName = name
		if m.IntN(5) == 0 {
			f.jsonName = "" // it has no tag
		}
	}
	return f
}

func (f field) json() string {
	if f.jsonName == "" {
		return f.goName
	}
	return f.jsonName
}

func lines(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "\t%s %s", f.goName, f.t.source)
		if f.jsonName != "" {
			fmt.Fprintf(&b, " `json:%q`", f.jsonName)
		}
		b.WriteString("\n")
	}
	return b.String()
}
