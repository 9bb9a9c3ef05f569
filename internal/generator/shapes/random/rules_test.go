// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/shapes/oracle"
)

// path is a field path.
type path struct {
	text string
	end  *typ
	one  bool // no element is followed
	may  bool // there may be nothing at the end
}

// path returns a random path from a struct to a key.
func (m *maker) path(t *typ) path {
	for {
		if p := m.walk(t); p.end != nil {
			return p
		}
	}
}

// walk returns a random path from a struct. Its end is nil if it leads to no key.
func (m *maker) walk(t *typ) path {
	for p := (path{one: true}); ; {
		switch t.kind {
		case "pointer":
			p.may, t = true, t.elem
			continue
		case "struct":
			if t.isKey && m.IntN(2) == 0 {
				p.end = t
				return p
			}
			if len(t.fields) == 0 {
				return path{}
			}
			f := t.fields[m.IntN(len(t.fields))]
			p.text += "." + f.json()
			p.may = p.may || f.maybe
			t = f.t
		case "slice", "array":
			p.text += "[*]"
			p.one, t = false, t.elem
		case "map":
			p.may = true
			switch m.IntN(3) {
			case 0:
				p.text += "[*]"
				p.one, t = false, t.elem
			case 1:
				p.text += "[keys]"
				p.one, p.end = false, t.key
				return p
			default:
				if t.key.kind == "struct" {
					return path{}
				}
				p.text += "['" + m.literal(t.key) + "']"
				t = t.elem
			}
		default:
			p.end = t
			return p
		}
	}
}

// literal returns one of the oracle's values.
func (m *maker) literal(t *typ) string {
	switch t.kind {
	case "string":
		return []string{"a", "b", "true"}[m.IntN(3)] // gofmt changes ''
	case "bool":
		return []string{"true", "false"}[m.IntN(2)]
	}
	return fmt.Sprint(oracle.Integers[m.IntN(len(oracle.Integers))])
}

// index is a declared index: its marker, and the oracle's rule for it.
type index struct {
	name, marker string
	rule         string // Go source
	namespaced   bool
}

func (m *maker) index(k *kind, n int) index {
	x := index{name: fmt.Sprint("By", n)}
	var keyPaths []path
	arguments := ""
	switch m.IntN(12) {
	case 0:
		function := []string{"Names", module + "/funcs/" + k.group + "/keys.Keys"}[m.IntN(2)]
		arguments = ",func=" + function
		x.rule = k.calls(function)
	case 1:
		owner := []string{"controller", "Node", "Deployment.apps"}[m.IntN(3)]
		arguments = ",owner=" + owner
		x.rule = ownersOf(owner)
	default:
		keyPaths = m.keyPaths(k.fields)
		var texts []string
		for _, p := range keyPaths {
			texts = append(texts, p.text)
		}
		arguments = ",field=" + strings.Join(texts, ";")
		x.rule = fmt.Sprintf("Paths: %#v", texts)
	}
	if m.IntN(2) == 0 {
		when, rule := m.when(m.conditions(k.fields), keyPaths)
		arguments += ",when=" + when
		x.rule += ", When: []oracle.Condition{" + rule + "}"
	}
	if x.namespaced = !k.cluster && m.IntN(4) == 0; x.namespaced {
		arguments += ",namespaced=true"
		x.rule += ", Namespaced: true"
	}
	x.marker = "+informer:index:name=" + x.name + arguments
	return x
}

// when compares the values at some paths with literals or null, in the syntax of a marker and as Go
// source for the oracle.
func (m *maker) when(paths, keyPaths []path) (marker, rule string) {
	var texts, rules []string
	for _, p := range paths {
		operator := []string{"==", "!="}[m.IntN(2)]
		literal, null := m.literal(p.end), p.may && m.IntN(3) == 0
		text := `"` + literal + `"`
		switch {
		case null:
			literal, text = "", "null"
			if slices.ContainsFunc(keyPaths, func(key path) bool { return strings.HasPrefix(key.text, p.text) }) {
				operator = "!=" // or there would be no keys
			}
		case p.end.kind != "string":
			text = literal
		}
		texts = append(texts, p.text+operator+text)
		rules = append(rules, fmt.Sprintf("{Path: %q, Literal: %q, Not: %v, Null: %v}", p.text, literal, operator == "!=", null))
	}
	return strings.Join(texts, " && "), strings.Join(rules, ", ")
}

// keyPaths returns one or several paths, which often go through the same lists.
func (m *maker) keyPaths(t *typ) []path {
	all := []path{m.path(t)}
	if m.IntN(3) > 0 {
		return all
	}
	for range 1 + m.IntN(2) {
		next := m.path(t)
		beginning, _, isLong := strings.Cut(all[0].text, "[")
		for range 60 {
			if !isLong || strings.HasPrefix(next.text, beginning) && next.text != all[0].text {
				break
			}
			next = m.path(t)
		}
		if !slices.ContainsFunc(all, func(p path) bool { return p.text == next.text }) {
			all = append(all, next)
		}
	}
	return all
}

// conditions returns one or two paths to single values, neither a prefix of the other.
func (m *maker) conditions(t *typ) []path {
	var all []path
	for len(all) < 1 || len(all) < 2 && m.IntN(3) == 0 {
		p := m.path(t)
		begins := func(other path) bool {
			return strings.HasPrefix(p.text, other.text) || strings.HasPrefix(other.text, p.text)
		}
		if p.one && p.end.kind != "struct" && !slices.ContainsFunc(all, begins) {
			all = append(all, p)
		}
	}
	return all
}
