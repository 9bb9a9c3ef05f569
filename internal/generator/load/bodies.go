// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Code is a program with the bodies of the functions to analyze.
type Code struct {
	// Fset has the positions of all syntax and types.
	Fset *token.FileSet
	// Packages are the packages matched by the patterns, and their imports as far as needed. Each
	// comes after its imports.
	Packages []*CodePackage
}

// CodePackage is a package of a program.
type CodePackage struct {
	// Path is the import path, Module its module's path; "" in the standard library.
	Path, Module string
	// Dir is the package's folder.
	Dir string
	// Imports are the import paths in its files.
	Imports []string
	// Root means that a pattern matches it, Main that it belongs to a main module.
	Root, Main bool
	// Types has the package's declarations. It isn't nil.
	Types *types.Package
	// Bodies means that function bodies are loaded. They are not for unwanted packages, for those
	// of other modules that don't compile, and for those with C.
	Bodies bool
	// Files and Info hold the bodies, only during the call of use. Otherwise they are nil.
	Files []*ast.File
	Info  *types.Info
	// C is the place where a file of a wanted package imports "C"; not valid if none does.
	C token.Position

	meta     *packages.Package
	index    int       // greater than the indexes of its imports
	wanted   bool      // bodies are wanted
	once     sync.Once // guards the initialization of types and syntax
	problems diag.List // of packages that must compile
}

// Bodies loads the packages of cfg, and their imports as far as needed. It reads the function
// bodies of the roots, and of the packages for which wanted returns true.
//
// Bodies calls use with each package, after its imports, from several goroutines but never from two
// at once. If a package that must compile doesn't, use isn't called any more.
//
// The error is a [diag.List] if patterns are wrong, or if a root or a package of a main module
// doesn't compile.
func Bodies(ctx context.Context, fset *token.FileSet, cfg Config, wanted func(*CodePackage) bool, use func(*CodePackage)) (*Code, error) {
	listed, err := cfg.list(ctx, withImports, cfg.Patterns)
	if err != nil {
		return nil, err
	}
	roots, err := cfg.matched(listed)
	if err != nil {
		return nil, err
	}
	l := &bodyLoader{
		fset:  fset,
		ctx:   ctx,
		use:   use,
		slots: make(chan struct{}, runtime.GOMAXPROCS(0)),
		byID:  map[string]*CodePackage{},
	}
	for _, meta := range roots {
		l.add(meta)
		l.byID[meta.ID].Root = true
	}
	var wait sync.WaitGroup
	for _, p := range l.all {
		if p.wanted = p.Root || wanted(p); p.wanted {
			wait.Go(func() { l.load(p) })
		}
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var problems diag.List
	for _, p := range l.all {
		problems = append(problems, p.problems...)
	}
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	return &Code{
		Fset:     l.fset,
		Packages: slices.DeleteFunc(l.all, func(p *CodePackage) bool { return p.Types == nil }),
	}, nil
}

// bodyLoader loads each package once, several in parallel.
type bodyLoader struct {
	fset  *token.FileSet
	ctx   context.Context
	slots chan struct{} // holds a value for each goroutine that parses or checks

	// set before anything is loaded
	all  []*CodePackage // imports come first
	byID map[string]*CodePackage

	mu     sync.Mutex // guards calls of use, and wrong
	use    func(*CodePackage)
	failed bool
}

func (l *bodyLoader) add(meta *packages.Package) {
	if l.byID[meta.ID] != nil || meta.PkgPath == "unsafe" {
		return
	}
	p := &CodePackage{Path: meta.PkgPath, Dir: meta.Dir, meta: meta}
	if m := meta.Module; m != nil {
		p.Module, p.Main = m.Path, m.Main
	}
	l.byID[meta.ID] = p
	for _, path := range slices.Sorted(maps.Keys(meta.Imports)) {
		p.Imports = append(p.Imports, path)
		l.add(meta.Imports[path])
	}
	p.index = len(l.all)
	l.all = append(l.all, p)
}

// load sets Types, and Files and Info during its call of use.
func (l *bodyLoader) load(p *CodePackage) {
	p.once.Do(func() {
		if l.ctx.Err() != nil {
			return
		}
		if p.wanted {
			l.loadBodies(p)
			own := p.Root || p.Main
			p.Bodies = !p.C.IsValid() && (len(p.problems) == 0 || own)
			if !own {
				p.problems = nil
			}
		}
		if !p.Bodies {
			p.Files, p.Info = nil, nil
			l.loadDeclarations(p)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.failed = l.failed || len(p.problems) > 0; !l.failed {
			l.use(p)
		}
		p.Files, p.Info = nil, nil
	})
}

func (l *bodyLoader) imports(p *CodePackage, files []*ast.File) map[string]*types.Package {
	paths := map[string]bool{}
	for _, file := range files {
		for _, spec := range file.Imports {
			paths[strings.Trim(spec.Path.Value, "`\"")] = true
		}
	}
	var wait sync.WaitGroup
	var deps []*CodePackage
	for path, meta := range p.meta.Imports {
		// An import that closes a cycle has a greater index; the go command reports it. Reasons for
		// missing packages come from importer.
		if dep := l.byID[meta.ID]; dep != nil && dep.index < p.index && paths[path] && len(meta.GoFiles) > 0 {
			deps = append(deps, dep)
			wait.Go(func() { l.load(dep) })
		}
	}
	wait.Wait()
	imported := map[string]*types.Package{}
	for _, dep := range deps {
		imported[dep.Path] = dep.Types
	}
	return imported
}

// loadBodies parses and checks all of a package, and records its problems.
func (l *bodyLoader) loadBodies(p *CodePackage) {
	var problems diag.List
	defer func() { p.problems = problems.Sorted() }()
	for _, e := range p.meta.Errors {
		if e.Kind != packages.TypeError {
			problems.Add(listProblem(e))
		}
	}
	l.slots <- struct{}{}
	for _, name := range p.meta.GoFiles {
		file, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		var wrong scanner.ErrorList
		if err != nil && !errors.As(err, &wrong) {
			problems.Add(diag.Diagnostic{Message: oneLine(err.Error())})
		}
		for _, e := range wrong {
			problems.Add(diag.Diagnostic{Pos: e.Pos, Message: e.Msg})
		}
		if file != nil {
			p.Files = append(p.Files, file)
			p.C = cmp.Or(p.C, l.importsC(file))
		}
	}
	<-l.slots
	if p.C.IsValid() {
		return
	}
	imported := l.imports(p, p.Files)
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	check := func() {
		p.Info = newInfo()
		config := typesConfig(importer{p.meta, imported, nil})
		config.Error = func(err error) {
			var e types.Error
			if errors.As(err, &e) {
				problems.Add(diag.Diagnostic{Pos: l.fset.Position(e.Pos), Message: oneLine(e.Msg)})
			}
		}
		// the error repeats the first one passed to config.Error
		p.Types, _ = config.Check(p.Path, l.fset, p.Files, p.Info)
	}
	if check(); len(problems) == 0 && l.replaceNew(p) {
		check()
	}
}

// importsC returns the place where a file imports "C"; not valid if it doesn't.
func (l *bodyLoader) importsC(file *ast.File) token.Position {
	for _, spec := range file.Imports {
		if strings.Trim(spec.Path.Value, "`\"") == "C" {
			return l.fset.Position(spec.Pos())
		}
	}
	return token.Position{}
}

func newInfo() *types.Info {
	return &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Instances:    map[*ast.Ident]types.Instance{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Scopes:       map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
}

// replaceNew replaces calls of new with a value, and reports whether there are any. Older versions
// of package ssa mistake the value for its type. The replacement is a function that does the same.
func (l *bodyLoader) replaceNew(p *CodePackage) bool {
	const name = "new of a value" // which no identifier in a file can be
	var calls []*ast.CallExpr
	for call := range maps.Keys(p.Info.Types) {
		call, ok := call.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || p.Info.Types[call.Args[0]].IsType() {
			continue
		}
		if id, ok := call.Fun.(*ast.Ident); ok && p.Info.Uses[id] == types.Universe.Lookup("new") {
			calls = append(calls, call)
		}
	}
	if len(calls) == 0 {
		return false
	}
	for _, call := range calls {
		call.Fun = &ast.Ident{NamePos: call.Fun.Pos(), Name: name}
	}
	file, err := parser.ParseFile(l.fset, "", "package p; func f[T any](v T) *T { return &v }", 0)
	if err != nil {
		return false
	}
	file.Name.Name = p.Types.Name()
	file.Decls[0].(*ast.FuncDecl).Name.Name = name
	p.Files = append(p.Files, file)
	return true
}

// loadDeclarations parses and checks the declarations of a package, as far as they are right.
func (l *bodyLoader) loadDeclarations(p *CodePackage) {
	var files []*ast.File
	l.slots <- struct{}{}
	for _, name := range p.meta.GoFiles {
		// A problem shows where a package with bodies uses a missing declaration.
		if file, _, err := parse(l.fset, name, 0); err == nil && file != nil {
			files = append(files, file)
		}
	}
	for i, file := range files {
		files[i], _ = pruned(file, keepAll, nameIn(p.meta))
	}
	<-l.slots
	imported := l.imports(p, files)
	l.slots <- struct{}{}
	defer func() { <-l.slots }()
	config := typesConfig(importer{p.meta, imported, nil})
	config.IgnoreFuncBodies = true
	config.Error = func(error) {}
	p.Types, _ = config.Check(p.Path, l.fset, files, nil)
}
