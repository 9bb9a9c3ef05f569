// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"go/format"
	"path"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// file is a generated file under construction.
//
// It names its imports itself instead of leaving that to jennifer: a name must not collide with the
// package's declarations or a method's variables, and the standard library is a group of its own.
type file struct {
	pkg            *pkg
	name           string // base name
	source         string // import path of the API package, or ""
	comment        string // package comment, or ""
	usesDeprecated bool

	imports map[string]*imported // by path
	taken   map[string]bool      // names forbidden to imports, besides those of the package
	locals  map[string]bool      // names in taken that are variables of functions
	decls   []jen.Code
}

// newFile begins a file whose functions use the names in taken.
func newFile(p *pkg, name, source string, taken ...string) *file {
	f := &file{pkg: p, name: name, source: source, imports: map[string]*imported{}, taken: map[string]bool{}, locals: map[string]bool{}}
	for _, name := range taken {
		f.taken[name], f.locals[name] = true, true
	}
	return f
}

func (f *file) path() string { return path.Join(f.pkg.dir, f.name) }

// local reports whether functions of the file may have a variable called name, and reserves the
// name for them.
func (f *file) local(name string) bool {
	if !f.locals[name] && (f.taken[name] || f.pkg.declared[name]) {
		return false
	}
	f.locals[name], f.taken[name] = true, true
	return true
}

func (f *file) add(decls ...jen.Code) {
	for _, d := range decls {
		f.decls = append(f.decls, jen.Line(), d)
	}
}

// versionGuard appends the declaration that fails to compile if the runtime is too old for this
// code.
func (f *file) versionGuard() {
	f.add(
		comment("This doesn't compile when the informer-gen module in go.mod is older than the generator: upgrade it with",
			"go get github.com/informer-gen/informer-gen.").
			Const().Id("_").Op("=").Add(f.qual(factoriesPath, "factories", "IsAtLeastV0_1")),
	)
}

// render returns the text of the file, below the user's header.
func (f *file) render(header string) ([]byte, error) {
	out := jen.NewFile(f.pkg.name)
	out.NoFormat = true
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
	var body bytes.Buffer
	if err := out.Render(&body); err != nil {
		return nil, err
	}
	// Jennifer puts blanks around its output. A blank between a doc comment and its declaration
	// would keep gofmt from formatting the comment now, but not when the user runs it.
	src, err := format.Source(append(f.head(header), bytes.ReplaceAll(body.Bytes(), []byte("\n "), []byte("\n"))...))
	if err != nil {
		return nil, err
	}
	return wrap(src)
}

func (f *file) head(header string) []byte {
	var head []byte
	if header != "" {
		head = append(head, header+"\n\n"...)
	}
	head = append(head, model.HeaderLine+"\n"...)
	if f.source != "" {
		head = append(head, model.SourcePrefix+f.source+"\n"...)
	}
	if f.usesDeprecated {
		head = append(head, "\n//lint:file-ignore SA1019 What is deprecated is generated for those who still use it.\n"...)
	}
	return append(head, '\n')
}
