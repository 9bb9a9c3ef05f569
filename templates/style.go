// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"fmt"
	"go/doc"
	"go/format"
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
	informerPath  = "github.com/informer-gen/informer-gen/runtime/informer"
	factoriesPath = "github.com/informer-gen/informer-gen/runtime/informer/factories"
	listerPath    = "github.com/informer-gen/informer-gen/runtime/lister"
	objectPath    = "github.com/informer-gen/informer-gen/runtime/object"
	sourcePath    = "github.com/informer-gen/informer-gen/runtime/source"
	storePath     = "github.com/informer-gen/informer-gen/runtime/store"
	schemaPath    = "k8s.io/apimachinery/pkg/runtime/schema"
)

// file is a generated file that is being built.
//
// Its imports are named here and not by jennifer: a name must not collide with one that the package
// declares or a method uses, and the standard library is a group of its own.
type file struct {
	pkg     *pkg
	name    string // base name
	source  string // import path of the API package, or ""
	comment string // package comment, or ""
	// usesDeprecated means that the file has to name what is deprecated.
	usesDeprecated bool

	imports map[string]*imported // by path
	taken   map[string]bool      // names that no import may have, besides those of the package
	locals  map[string]bool      // those of them that are variables of functions
	decls   []jen.Code
}

type imported struct {
	name string // in this file
	pkg  string // in its package clause
	used bool
}

// newFile begins a file whose parameters and variables use the given names.
func newFile(p *pkg, name, source string, taken ...string) *file {
	f := &file{pkg: p, name: name, source: source, imports: map[string]*imported{}, taken: map[string]bool{}, locals: map[string]bool{}}
	for _, name := range taken {
		f.taken[name], f.locals[name] = true, true
	}
	return f
}

// path is relative to the output folder.
func (f *file) path() string { return path.Join(f.pkg.dir, f.name) }

// local reports whether functions of the file may have a variable of this name, which then no
// import may have any more.
func (f *file) local(name string) bool {
	if !f.locals[name] && (f.taken[name] || f.pkg.declared[name]) {
		return false
	}
	f.locals[name], f.taken[name] = true, true
	return true
}

// fix gives a package its own name before any other package can take it.
func (f *file) fix(importPath, pkg string) {
	f.alias(importPath, pkg, pkg)
}

// alias imports a package under a name that may not be its own, and which is extended when it is
// taken.
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

// from is the identifier id of a generated package, which is imported under the name alias, unless
// it is f's own.
func (f *file) from(p *pkg, alias, id string) *jen.Statement {
	if p == f.pkg {
		return jen.Id(id)
	}
	f.alias(p.path, p.name, alias)
	return f.qual(p.path, p.name, id)
}

// free finds a name for an import: its own, that of the folder above in front of it, or one with a
// number.
func (f *file) free(importPath, name string) string {
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

// unusable reports whether a name can't, or should not, be used for an import.
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
			Const().Id("_").Op("=").Add(f.qual(factoriesPath, "factories", "IsAtLeastV0_1")),
	)
}

// render is the text of the file below the user's own header.
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
	// Jennifer writes blanks before and behind what it puts together. A blank between a comment and
	// what it belongs to would keep gofmt from formatting it as a doc comment, until the user
	// runs gofmt.
	src, err := format.Source(append(f.head(header), bytes.ReplaceAll(body.Bytes(), []byte("\n "), []byte("\n"))...))
	if err != nil {
		return nil, err
	}
	return wrap(src)
}

// head is what stands above the package clause and its comment.
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

// importSpecs are the imports that are used, those of the standard library first. A name is given
// only where the path doesn't say it.
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

// comment is a comment of one or more lines, to be followed by what it says something about. A line
// that is too long is folded.
func comment(lines ...string) *jen.Statement {
	var folded []string
	for _, line := range lines {
		folded = append(folded, fold(line)...)
	}
	return verbatim(folded)
}

// indented is a comment of one sentence inside of a declaration, one tab from the left.
func indented(sentence string) *jen.Statement {
	return verbatim(foldAt(mostColumns-tabColumns-len("// "), sentence))
}

// verbatim is a comment whose lines stay as they are. A line that begins with a tab is code, before
// which gofmt wants no blank.
func verbatim(lines []string) *jen.Statement {
	var b strings.Builder
	for _, line := range lines {
		text := strings.TrimRightFunc(line, unicode.IsSpace)
		b.WriteString("//")
		if text != "" && !strings.HasPrefix(text, "\t") {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return jen.Comment(b.String())
}

// fold breaks a sentence into lines.
func fold(sentence string) []string { return foldAt(116, sentence) }

// foldAt breaks a sentence into lines of at most width bytes.
func foldAt(width int, sentence string) []string {
	var lines []string
	for len(sentence) > width {
		n := strings.LastIndexByte(sentence[:width], ' ')
		if n <= 0 {
			break
		}
		lines, sentence = append(lines, sentence[:n]), sentence[n+1:]
	}
	return append(lines, sentence)
}

func commentf(format string, args ...any) *jen.Statement {
	return comment(fmt.Sprintf(format, args...))
}

// inline is a list in braces that stays on its line.
func inline(items ...jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ", "}, items...)
}

// structOf is a struct with one field.
func structOf(field jen.Code) *jen.Statement {
	return jen.Id("struct").Custom(jen.Options{Open: "{", Close: "}"}, field)
}

// method is a method of one statement. Its receiver is a pointer, since Go compiles a second
// function for each method of a value.
func method(receiver, on, name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	return valueMethod(receiver, "*"+on, name, params, result, body)
}

// valueMethod has on itself as its receiver.
func valueMethod(receiver, on, name string, params []jen.Code, result, body jen.Code) *jen.Statement {
	return jen.Func().Params(jen.Id(receiver).Id(on)).Id(name).Params(params...).Add(result).Block(jen.Return(body))
}

// made is a new struct of a type, with the value of its only field.
func made(of string, field jen.Code) *jen.Statement {
	return jen.Op("&").Id(of).Values(field)
}

// object is the pointer type of k.
func (f *file) object(k *kind) *jen.Statement {
	return jen.Op("*").Add(f.qual(k.Source.Path, k.Source.Name, k.Name))
}

// of is a generic type of the runtime at k's pointer type.
func (f *file) of(importPath, name string, k *kind) *jen.Statement {
	return f.qual(importPath, path.Base(importPath), name).Types(f.object(k))
}

// seq is an iterator over objects of k.
func (f *file) seq(k *kind) *jen.Statement { return f.of("iter", "Seq", k) }

// goType is a type as k's files name it.
func (f *file) goType(k *kind, t model.GoType) *jen.Statement {
	switch {
	case t.Path == "":
		return jen.Id(t.Name)
	case t.Path == k.Source.Path:
		return f.qual(t.Path, k.Source.Name, t.Name)
	default:
		return f.qual(t.Path, t.Package, t.Name)
	}
}

func sortFiles(files []model.File) {
	slices.SortFunc(files, func(a, b model.File) int { return strings.Compare(a.Path, b.Path) })
}
