// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestFaultW30AnyInTheExportedAPI compares what the exported names of the runtime say with the
// table of ARCHITECTURE.md: a use of any that is not in the table fails, and so does a line of the
// table for which there is no use any more.
func TestFaultW30AnyInTheExportedAPI(t *testing.T) {
	const heading = "## Where `any` is in the exported API, and why"
	listed := map[string]bool{}
	for _, row := range tableAfter(t, "../ARCHITECTURE.md", heading) {
		name := strings.Trim(row.cells[0], "`")
		if listed[name] {
			t.Errorf("ARCHITECTURE.md:%d: %s is listed twice", row.line, name)
		}
		listed[name] = true
		if len(row.cells) < 2 || row.cells[1] == "" {
			t.Errorf("ARCHITECTURE.md:%d: %s: the table does not say why", row.line, name)
		}
	}

	uses := map[string]types.Type{}
	for _, pkg := range exportedPackages(t) {
		(&anyFinder{pkg: pkg, found: uses, seen: map[*types.Named]bool{}}).scope()
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if !listed[name] {
			t.Errorf("%s has any in its exported type: %s\n\tgive it a type, or list `%s` in ARCHITECTURE.md under %q",
				name, types.TypeString(uses[name], (*types.Package).Name), name, heading)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if _, ok := uses[name]; !ok {
			t.Errorf("ARCHITECTURE.md lists `%s` under %q, but there is no such use of any: remove the line", name, heading)
		}
	}
}

// TestAnyIsFound shows the finder what it must find, and what it must leave alone.
func TestAnyIsFound(t *testing.T) {
	pkg := typeCheck(t, `package p

import "container/ring"

type Parameter[T any, K comparable] struct{ Field T; Keys map[K]T }
func (Parameter[T, K]) Method(T) K { panic(0) }
func Generic[T any](T, func(T) []T) Parameter[T, int] { panic(0) }
type Foreign struct{ *ring.Ring; Named interface{ M() } }
var Err error
type private struct{ X any }
func hidden(any) {}

type Field struct{ Free any; hidden any }
type Slice struct{ Free []any }
type Map struct{ Free map[string]interface{} }
type Fn struct{ Free func(any) }
type Chan struct{ Free chan any }
type Argument struct{ Free Parameter[any, int] }
type Name interface{}
type Alias = any
type UsesAlias struct{ Free Alias }
type UsesPrivate struct{ Free private }
type Inner struct{ private }
type Asked interface{ Ask() any; private(any) }
type Nested struct{ Free struct{ Deep any } }
func Variadic(...any) {}
func Result() (int, any) { panic(0) }
func (*Field) Method(any) {}
func (*Field) Same(x interface{}) {}
func (private) Promoted(any) {}
var Variable any
type List []any
func Option() private { panic(0) }
func Takes(taken) {}
func Calls(func(*given)) {}
type taken struct{ X any }
type given struct{ X any }
`)
	want := []string{
		"p.Alias", "p.Argument.Free", "p.Asked.Ask", "p.Chan.Free", "p.Field.Free", "p.Field.Method", "p.Field.Same", "p.Fn.Free",
		"p.Inner.Promoted", "p.Inner.X", "p.List", "p.Map.Free", "p.Name", "p.Nested.Free.Deep", "p.Result", "p.Slice.Free",
		"p.UsesAlias.Free", "p.Variable", "p.Variadic", "p.given.X", "p.private.Promoted", "p.private.X",
	}
	uses := map[string]types.Type{}
	(&anyFinder{pkg: pkg, found: uses, seen: map[*types.Named]bool{}}).scope()
	if got := slices.Sorted(maps.Keys(uses)); !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

// anyFinder walks the exported names of one package. Constraints of type parameters are not looked
// at: there any is no type of a value. Types of other modules are not opened.
type anyFinder struct {
	pkg   *types.Package
	found map[string]types.Type
	seen  map[*types.Named]bool // types that were opened
	taken bool                  // what is looked at is an argument of the caller's
}

// scope looks at all exported names.
func (f *anyFinder) scope() {
	for _, name := range f.pkg.Scope().Names() {
		obj := f.pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		path := f.pkg.Name() + "." + name
		if decl, ok := obj.(*types.TypeName); ok {
			f.declared(path, decl)
			continue
		}
		f.check(path, obj.Type())
	}
}

// declared looks at what a type declaration lets others see.
func (f *anyFinder) declared(path string, decl *types.TypeName) {
	if named, ok := types.Unalias(decl.Type()).(*types.Named); ok {
		f.open(path, named)
		return
	}
	f.check(path, decl.Type())
}

// open looks at the fields and methods of a named type.
func (f *anyFinder) open(path string, named *types.Named) {
	named = named.Origin()
	if f.seen[named] || !ours(named.Obj().Pkg(), f.pkg) {
		return
	}
	f.seen[named] = true
	switch under := named.Underlying().(type) {
	case *types.Struct:
		f.fields(path, under)
	case *types.Interface:
		if under.Empty() && !under.IsComparable() {
			f.found[path] = under
		}
		for m := range under.ExplicitMethods() {
			f.method(path, m)
		}
	default:
		f.check(path, under)
	}
	for selection := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if m, ok := selection.Obj().(*types.Func); ok && ours(m.Pkg(), f.pkg) {
			f.method(path, m)
		}
	}
}

func (f *anyFinder) method(path string, m *types.Func) {
	if m.Exported() {
		f.check(path+"."+m.Name(), m.Type())
	}
}

func (f *anyFinder) fields(path string, s *types.Struct) {
	for field := range s.Fields() {
		switch {
		case field.Embedded():
			// An embedded type shows its fields whether or not it is exported; its methods are in
			// the method set.
			if inner, ok := deref(field.Type()).(*types.Named); ok && ours(inner.Obj().Pkg(), f.pkg) {
				if s, ok := inner.Underlying().(*types.Struct); ok {
					f.fields(path, s)
				}
			}
		case field.Exported():
			f.check(path+"."+field.Name(), field.Type())
		}
	}
}

// check adds path if a value of type t lets any through.
func (f *anyFinder) check(path string, t types.Type) {
	if f.contains(path, t) {
		f.found[path] = t
	}
}

// contains reports whether any is a part of t itself. Fields of an unnamed struct are added under
// their own names.
func (f *anyFinder) contains(path string, t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return f.contains(path, t.Elem())
	case *types.Slice:
		return f.contains(path, t.Elem())
	case *types.Array:
		return f.contains(path, t.Elem())
	case *types.Chan:
		return f.contains(path, t.Elem())
	case *types.Map:
		return f.contains(path, t.Key()) || f.contains(path, t.Elem())
	case *types.Signature:
		f.taken = !f.taken
		takes := f.tuple(path, t.Params())
		f.taken = !f.taken
		return f.tuple(path, t.Results()) || takes
	case *types.Struct:
		f.fields(path, t)
		return false
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			f.method(path, m)
		}
		return t.Empty() && !t.IsComparable()
	case *types.Named:
		// A type that has no exported name is seen through what gives a value of it away.
		if obj := t.Obj(); !f.taken && obj.Pkg() != nil && (!obj.Exported() || internal(obj.Pkg())) {
			f.open(obj.Pkg().Name()+"."+obj.Name(), t)
		}
		for argument := range t.TypeArgs().Types() {
			if f.contains(path, argument) {
				return true
			}
		}
	}
	return false
}

func (f *anyFinder) tuple(path string, vars *types.Tuple) bool {
	for v := range vars.Variables() {
		if f.contains(path, v.Type()) {
			return true
		}
	}
	return false
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// ours reports whether pkg is home, or another package of this module.
func ours(pkg, home *types.Package) bool {
	return pkg != nil && (pkg == home || within(pkg.Path(), strings.TrimSuffix(module, "/")))
}

func internal(pkg *types.Package) bool {
	return slices.Contains(strings.Split(pkg.Path(), "/"), "internal")
}

// loaded are the types of all packages below the public folders. They are read once, as the go
// command compiled them.
var loaded = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes}, publicFolders...)
})

// exportedPackages are the packages below the public folders that others may import.
func exportedPackages(t *testing.T) []*types.Package {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []*types.Package
	for _, pkg := range all {
		for _, err := range pkg.Errors {
			t.Fatalf("%s: %v", pkg.PkgPath, err)
		}
		if !internal(pkg.Types) {
			pkgs = append(pkgs, pkg.Types)
		}
	}
	if len(pkgs) < 8 {
		t.Fatalf("only %d packages were found below runtime", len(pkgs))
	}
	return pkgs
}

// typeCheck compiles a file that imports the standard library only.
func typeCheck(t *testing.T, text string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.ForCompiler(fset, "source", nil)}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}
