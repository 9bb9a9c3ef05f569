// SPDX-License-Identifier: Apache-2.0

package model

import (
	"path"
	"strings"
	"unicode"
)

// File returns the name of a type's files without extension. It avoids underscores that could turn
// the name's end into a test or operating system suffix for the go command, and the names of our
// own files.
func (t *Type) File() string {
	name := strings.ToLower(t.Name)
	switch {
	case strings.Contains(name, "_"), name == "doc", name == "factory", name == "resource", name == "version":
		return name + "_kind"
	}
	return name
}

// Unexported returns the prefix for the type's unexported declarations: widget for Widget,
// apiService for APIService, vpa for VPA.
func (t *Type) Unexported() string { return unexported(t.Name) }

// Unexported returns the prefix for the group's unexported declarations.
func (g *Group) Unexported() string { return unexported(g.GoName) }

func unexported(name string) string {
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

// InformerDir returns the folder of a version's informers, relative to the output folder and with
// slashes; "." in the layout Single.
func (l Layout) InformerDir(g *Group, v *Version) string { return l.dir("informers", g, v) }

// ListerDir is InformerDir for listers. Users declare expansion interfaces there.
func (l Layout) ListerDir(g *Group, v *Version) string { return l.dir("listers", g, v) }

// ProjectionDir is InformerDir for projections.
func (l Layout) ProjectionDir(g *Group, v *Version) string { return l.dir("projections", g, v) }

// ApplyDir is InformerDir for apply configurations.
func (l Layout) ApplyDir(g *Group, v *Version) string { return l.dir("applyconfigurations", g, v) }

func (l Layout) dir(of string, g *Group, v *Version) string {
	if l == Single {
		return "."
	}
	return path.Join(of, g.Package, v.Package)
}
