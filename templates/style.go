// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"fmt"
	"go/doc"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// The packages that generated code names.
const (
	informerPath = "github.com/informer-gen/informer-gen/runtime/informer"
	listerPath   = "github.com/informer-gen/informer-gen/runtime/lister"
	sourcePath   = "github.com/informer-gen/informer-gen/runtime/source"
	storePath    = "github.com/informer-gen/informer-gen/runtime/store"
	schemaPath   = "k8s.io/apimachinery/pkg/runtime/schema"
)

// file is a generated file that is being built.
//
// Its imports are named here and not by jennifer: a name must not collide with one that the package declares or a method
// uses, and the standard library is a group of its own.
type file struct {
	path    string // relative to the output folder
	source  string // import path of the API package, or ""
	pkg     string // package clause
	comment string // package comment, or ""

	imports map[string]*imported // by path
	taken   map[string]bool      // names that no import may have
	decls   []jen.Code
}

type imported struct {
	name string // in this file
	pkg  string // in its package clause
	used bool
}

// newFile begins a file whose declarations and parameters use the given names.
func newFile(path, source, pkg string, taken ...string) *file {
	f := &file{path: path, source: source, pkg: pkg, imports: map[string]*imported{}, taken: map[string]bool{}}
	for _, name := range taken {
		f.taken[name] = true
	}
	return f
}

// fix gives a package its own name before any other package can take it.
func (f *file) fix(importPath, pkg string) {
	f.alias(importPath, pkg, pkg)
}

// alias imports a package under a name that may not be its own, and which is extended when it is taken.
func (f *file) alias(importPath, pkg, name string) {
	if f.imports[importPath] == nil {
		name = f.free(importPath, name)
		f.imports[importPath] = &imported{name: name, pkg: pkg}
		f.taken[name] = true
	}
}

// qual is the identifier id of the package that is called pkg.
func (f *file) qual(importPath, pkg, id string) *jen.Statement {
	f.alias(importPath, pkg, pkg)
	imp := f.imports[importPath]
	imp.used = true
	return jen.Id(imp.name).Dot(id)
}

// free finds a name for an import: its own, that of the folder above in front of it, or one with a number.
func (f *file) free(importPath, name string) string {
	long := identifier(path.Base(path.Dir(importPath))) + name
	for n := 2; ; n++ {
		for _, candidate := range []string{name, long} {
			if !f.taken[candidate] && !unusable(candidate) {
				return candidate
			}
		}
		long = name + strconv.Itoa(n)
	}
}

// unusable says that a name can't, or should not, be used for an import.
func unusable(name string) bool {
	return !token.IsIdentifier(name) || doc.IsPredeclared(name) || name == "_" || name == "init"
}

// add appends declarations, each after an empty line.
func (f *file) add(decls ...jen.Code) {
	for _, d := range decls {
		f.decls = append(f.decls, jen.Line(), d)
	}
}

// guard appends the declaration that doesn't compile with a runtime that is too old for this code.
func (f *file) guard() {
	f.add(
		comment("This doesn't compile when the informer-gen module in go.mod is older than the generator: upgrade it with",
			"go get github.com/informer-gen/informer-gen.").
			Const().Id("_").Op("=").Add(f.qual(informerPath, "informer", "IsAtLeastV0_1")),
	)
}

func (f *file) render() ([]byte, error) {
	out := jen.NewFile(f.pkg)
	out.HeaderComment(Header)
	if f.source != "" {
		out.HeaderComment(SourcePrefix + f.source)
	}
	if f.comment != "" {
		out.PackageComment(f.comment)
	}
	switch specs := f.importSpecs(); len(specs) {
	case 0:
	case 1:
		out.Id("import").Add(specs...)
	default:
		out.Id("import").Defs(specs...)
	}
	for _, d := range f.decls {
		out.Add(d) // all in one call would put them on one line
	}
	var buf bytes.Buffer
	if err := out.Render(&buf); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// importSpecs are the imports that are used, those of the standard library first. A name is given only where the path
// doesn't say it.
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

// assumedName is the package name that goimports expects at the end of an import path.
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

func notIdentifier(r rune) bool {
	return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
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

// folder is the name of a group's or version's folder and package: name itself unless Go gives it another meaning.
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

// private is the name of an unexported declaration that belongs to an exported one: Widget gives widget, APIService
// gives apiService, VPA gives vpa.
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

// comment is a comment of one or more lines, to be followed by what it says something about. A line that begins with a
// tab is code in a doc comment, before which gofmt wants no space.
func comment(lines ...string) *jen.Statement {
	s := &jen.Statement{}
	for _, line := range lines {
		sign := "// "
		if strings.HasPrefix(line, "\t") {
			sign = "//"
		}
		s.Comment(strings.TrimRightFunc(sign+line, unicode.IsSpace)).Line()
	}
	return s
}

func commentf(format string, args ...any) *jen.Statement {
	return comment(fmt.Sprintf(format, args...))
}

// documented is a comment that begins with a sentence of ours and goes on with the type's own doc comment.
func documented(t *model.Type, sentence string) *jen.Statement {
	lines := []string{sentence}
	if len(t.Doc) > 0 {
		lines = append(append(lines, ""), t.Doc...)
	}
	return comment(lines...)
}

// inline is a list in braces that stays on its line.
func inline(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ", "}, items...)
}

// structOf is a struct with one field.
func structOf(field jen.Code) *jen.Statement {
	return jen.Id("struct").Custom(jen.Options{Open: "{", Close: "}"}, field)
}

// method is a method of one line on a value receiver.
func method(receiver, on, name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	return jen.Func().Params(jen.Id(receiver).Id(on)).Id(name).Params(params...).Add(result).Block(jen.Return(body))
}

// object is the pointer type of t.
func (f *file) object(v *model.Version, t *model.Type) *jen.Statement {
	return jen.Op("*").Add(f.qual(v.Source.Path, v.Source.Name, t.Name))
}

// of is a generic type of the runtime at t's pointer type.
func (f *file) of(importPath, name string, v *model.Version, t *model.Type) *jen.Statement {
	return f.qual(importPath, path.Base(importPath), name).Types(f.object(v, t))
}

// key is the type of an index's keys.
func (f *file) key(v *model.Version, k model.GoType) *jen.Statement {
	switch {
	case k.Path == "":
		return jen.Id(k.Name)
	case k.Path == v.Source.Path:
		return f.qual(k.Path, v.Source.Name, k.Name)
	default:
		return f.qual(k.Path, k.Package, k.Name)
	}
}

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}
