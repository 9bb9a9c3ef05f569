// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"
)

// pluralExceptions are the kinds of Kubernetes itself whose plurals follow no rule.
var pluralExceptions = map[string]string{"Endpoints": "Endpoints"}

// plural is the plural of a kind by the rules of Kubernetes' own generators: Policy gives Policies.
func plural(kind string) string {
	return namer.NewPublicPluralNamer(pluralExceptions).Name(&types.Type{Name: types.Name{Name: kind}})
}

func upperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// docLines returns the lines of a doc comment without markers.
func docLines(doc *ast.CommentGroup) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(doc.Text(), "\n"), "\n") {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t"), "+") {
			lines = append(lines, line)
		}
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// collisions reports kinds of one version, and their indexes, that would meet in what is generated. The templates
// check this too, for any model; here the findings have positions.
func (r *resolver) collisions(a *api) {
	type owner struct {
		what string
		pos  token.Position
	}
	taken := map[string]owner{}
	claim := func(what string, pos token.Position, name, use string) bool {
		if other, ok := taken[use+name]; ok {
			r.failAt(pos, fmt.Sprintf("%s and %s (%s) would both have the %s %s", what, other.what, r.short(other.pos), use, name))
			return false
		}
		taken[use+name] = owner{what, pos}
		return true
	}
	for _, k := range a.kinds {
		what := "type " + k.Name
		if !claim(what, k.pos, strings.ToLower(k.Name), "file name") ||
			!claim(what, k.pos, k.Resource, "resource") ||
			!claim(what, k.pos, k.Plural, "accessor") {
			continue
		}
		names := []string{"New" + k.Name + "Lister", k.Name + "Lister", k.Name + "ListerExpansion", k.Name + "Resource"}
		if k.Namespaced {
			names = append(names, k.Name+"NamespaceLister", k.Name+"NamespaceListerExpansion")
		}
		if len(k.Indexes) > 0 {
			names = append(names, k.Name+"Indexes")
		}
		for _, name := range names {
			if !claim(what, k.pos, name, "Go name") {
				break
			}
		}
		for i, x := range k.Indexes {
			claim("index "+x.Name+" of "+what, k.indexes[i], k.Name+x.Name, "Go name")
		}
	}
}
