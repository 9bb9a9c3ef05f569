// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"
	"unicode"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// folder is the name of a group's or version's folder and package: name itself unless Go gives it
// another meaning.
func folder(name string) string {
	id := identifier(name)
	switch id {
	case "", "documentation", "internal", "main", "testdata", "vendor":
		return id + "api"
	}
	if unusable(id) || strings.HasSuffix(id, "_test") {
		return strings.ReplaceAll(id, "_", "") + "api"
	}
	return id
}

// identifier is s without what can't stand in an identifier.
func identifier(s string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if notIdentifier(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s), "0123456789_")
}

func notIdentifier(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// base is the name of a type's files without their endings. An underscore could make the go command
// take the ending for that of a test or of an operating system, and the names of our own files are
// taken.
func base(t *model.Type) string {
	name := strings.ToLower(t.Name)
	switch {
	case strings.Contains(name, "_"), name == "doc", name == "factory", name == "resource", name == "version":
		return name + "_kind"
	}
	return name
}

// groupVersion is how people write a version of a group: "apps/v1", "v1" in the core group.
func groupVersion(g *model.Group, v *model.Version) string {
	if g.Name == "" {
		return v.Name
	}
	return g.Name + "/" + v.Name
}

// private is the name of an unexported declaration that belongs to an exported one: Widget gives
// widget, APIService gives apiService, VPA gives vpa.
func private(name string) string {
	runes := []rune(name)
	n := 0
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	if n > 1 && n < len(runes) && unicode.IsLower(runes[n]) {
		n--
	}
	for i := range n {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
