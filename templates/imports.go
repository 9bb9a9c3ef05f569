// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"go/doc"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

type imported struct {
	name string // in this file
	pkg  string // in its package clause
	used bool
}

// reserve reserves a package's own name for it.
func (f *file) reserve(importPath, pkg string) {
	f.alias(importPath, pkg, pkg)
}

// alias imports a package under name, which may differ from its own, and is extended if it is
// taken.
func (f *file) alias(importPath, pkg, name string) {
	if f.imports[importPath] == nil {
		name = f.freeName(importPath, name)
		f.imports[importPath] = &imported{name: name, pkg: pkg}
		f.taken[name] = true
	}
}

// qual returns the identifier id of the package called pkg.
func (f *file) qual(importPath, pkg, id string) *jen.Statement {
	f.alias(importPath, pkg, pkg)
	imp := f.imports[importPath]
	imp.used = true
	return jen.Id(imp.name).Dot(id)
}

// from returns the identifier id of a generated package, imported under the name alias unless it is
// f's own.
func (f *file) from(p *pkg, alias, id string) *jen.Statement {
	if p == f.pkg {
		return jen.Id(id)
	}
	f.alias(p.path, p.name, alias)
	return f.qual(p.path, p.name, id)
}

// freeName finds a name for an import: its own, or with the folder above as a prefix, or with a
// number.
func (f *file) freeName(importPath, name string) string {
	long := identifier(path.Base(path.Dir(importPath))) + name
	for n := 2; ; n++ {
		for _, candidate := range []string{name, long} {
			if !f.taken[candidate] && !f.pkg.declared[candidate] && !unusable(candidate) {
				return candidate
			}
		}
		long = name + strconv.Itoa(n)
	}
}

// identifier returns s in lower case, without characters forbidden in identifiers.
func identifier(s string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if notIdentifier(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s), "0123456789_")
}

func notIdentifier(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func unusable(name string) bool {
	return !token.IsIdentifier(name) || doc.IsPredeclared(name) || name == "_" || name == "init"
}

// importSpecs returns the used imports, the standard library's first. An import gets a name only if
// its path doesn't tell it.
func (f *file) importSpecs() []jen.Code {
	var std, others []string
	for importPath, imp := range f.imports {
		switch {
		case !imp.used:
		case strings.Contains(firstElement(importPath), "."):
			others = append(others, importPath)
		default:
			std = append(std, importPath)
		}
	}
	var specs []jen.Code
	for _, paths := range [][]string{std, others} {
		slices.Sort(paths)
		if len(specs) > 0 && len(paths) > 0 {
			specs = append(specs, jen.Line())
		}
		for _, importPath := range paths {
			spec := jen.Lit(importPath)
			if imp := f.imports[importPath]; imp.name != imp.pkg || imp.name != assumedName(importPath) {
				spec = jen.Id(imp.name).Lit(importPath)
			}
			specs = append(specs, spec)
		}
	}
	return specs
}

func firstElement(importPath string) string {
	first, _, _ := strings.Cut(importPath, "/")
	return first
}

// assumedName returns the package name that goimports expects for an import path.
func assumedName(importPath string) string {
	last := path.Base(importPath)
	if rest, ok := strings.CutPrefix(last, "v"); ok {
		if _, err := strconv.Atoi(rest); err == nil && path.Dir(importPath) != "." {
			last = path.Base(path.Dir(importPath))
		}
	}
	last = strings.TrimPrefix(last, "go-")
	if i := strings.IndexFunc(last, notIdentifier); i >= 0 {
		last = last[:i]
	}
	return last
}
