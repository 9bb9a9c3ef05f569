// SPDX-License-Identifier: Apache-2.0

// Package load turns package patterns into syntax and types. It is the only place that runs the go
// command.
//
// One call of the go command lists the packages and everything that they import. After that only
// what is asked for costs anything: the syntax of the packages that the patterns match, and types
// for those of them that the caller names, which are checked from source, with as much of what they
// import as their types are made of. Function bodies and variables aren't looked at, so a package
// whose functions use code that isn't generated yet loads all the same. For the same reason nothing
// is compiled: a load takes as long with an empty build cache, but for the go command's own index.
package load

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Config selects what to load.
type Config struct {
	// Dir is the folder that the patterns are relative to and in whose module they are looked up;
	// it must be absolute.
	Dir string
	// Patterns are the go command's: import paths, folders, "./...".
	Patterns []string
	// Env is the environment of the go command; nil is that of the process.
	Env []string
	// Tags are build tags. If there are any, they take the place of those in GOFLAGS.
	Tags []string
	// Skip may be nil. Packages that the patterns match in a folder for which it returns true are
	// left out, whether they compile or not.
	Skip func(dir string) bool
}

// Program is what one call of Load found.
type Program struct {
	// Fset has the positions of all syntax and types.
	Fset *token.FileSet
	// Roots are the packages that the patterns match, sorted by import path.
	Roots []*Package

	cfg     Config
	checker *checker
}

// Package is a package that a pattern matched.
type Package struct {
	// Path is the import path, Name the name in the package clause.
	Path, Name string
	// Dir is the package's folder.
	Dir string
	// Files are parsed with comments; functions have empty bodies.
	Files []*ast.File
	// ParseErrors say why the syntax of the package is incomplete; empty if it isn't.
	ParseErrors diag.List
	// Types and TypeErrors are filled by Program.Check. Types isn't nil then, even if there are
	// errors.
	Types      *types.Package
	TypeErrors diag.List

	meta *packages.Package
}

// Main reports whether the package belongs to a module that one works in, and not to one that is
// merely required.
func (p *Package) Main() bool { return p.meta.Module == nil || p.meta.Module.Main }

// Query is what go get takes to add what the package needs: its import path and, in another module,
// the version.
func (p *Package) Query() string {
	if m := p.meta.Module; !p.Main() && m.Version != "" {
		return p.Path + "@" + m.Version
	}
	return p.Path
}

func newPackage(meta *packages.Package) *Package {
	return &Package{Path: meta.PkgPath, Name: meta.Name, Dir: meta.Dir, meta: meta}
}

// Load lists the packages of cfg and parses those that the patterns match. The error is a diag.List
// if the go command found something wrong with the patterns themselves; what is wrong inside of
// packages is left to the caller, who knows which of them matter. If ctx ends first, the error is
// its cause.
func Load(ctx context.Context, cfg Config) (*Program, error) {
	fset := token.NewFileSet()
	program := &Program{Fset: fset, cfg: cfg, checker: newChecker(fset)}
	listed, err := cfg.list(ctx, withImports, cfg.Patterns)
	if err != nil {
		return nil, err
	}
	roots, err := cfg.matched(listed)
	if err != nil {
		return nil, err
	}
	for _, meta := range roots {
		program.Roots = append(program.Roots, newPackage(meta))
	}
	slices.SortFunc(program.Roots, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	if err := program.parse(ctx, program.Roots); err != nil {
		return nil, err
	}
	return program, nil
}

// Import returns the packages with the given import paths, in that order, ready for Check; nil
// stands for those that aren't there. They need not be Roots. The go command runs again only if
// neither a pattern matched one of them nor a root needs it. A package that Check has looked at
// already, because another one imports it, would get types of its own: call Import first. Neither
// may run while the other does. If ctx ends first, the error is its cause.
func (p *Program) Import(ctx context.Context, paths ...string) ([]*Package, error) {
	var unknown []string
	for _, path := range paths {
		if p.checker.metas[path] == nil {
			unknown = append(unknown, path)
		}
	}
	if len(unknown) > 0 {
		listed, err := p.cfg.list(ctx, withImports, unknown)
		if err != nil {
			return nil, err
		}
		for _, meta := range listed {
			p.checker.add(meta)
		}
	}
	imported := make([]*Package, len(paths))
	var added []*Package
	for i, path := range paths {
		meta := p.checker.metas[path]
		if meta == nil || len(meta.GoFiles) == 0 {
			continue
		}
		if imported[i] = p.checker.roots[meta.ID]; imported[i] == nil {
			imported[i] = newPackage(meta)
			added = append(added, imported[i])
		}
	}
	return imported, p.parse(ctx, added)
}

// Dependency returns the package that root imports under the given path, without its functions and
// variables; nil if it imports none, or if that has no Go files.
func (p *Program) Dependency(root *Package, path string) *types.Package {
	dep := root.meta.Imports[path]
	if dep == nil || len(dep.GoFiles) == 0 || p.checker.back[edge{root.meta.ID, dep.ID}] {
		return nil
	}
	return p.checker.dependency(dep)
}

// parse parses packages, which are to be checked as roots.
func (p *Program) parse(ctx context.Context, roots []*Package) error {
	p.checker.list(roots)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, root := range roots {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return root.parse(p.Fset)
		})
	}
	return group.Wait()
}

// Exists reports for each of the import paths whether there is a package with Go files, be they for
// other systems or build tags than those of the call. If ctx ends first, the error is its cause.
func Exists(ctx context.Context, cfg Config, paths []string) (map[string]bool, error) {
	listed, err := cfg.list(ctx, alone, paths)
	if err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for _, meta := range listed {
		isGo := func(name string) bool { return strings.HasSuffix(name, ".go") }
		exists[meta.PkgPath] = len(meta.GoFiles) > 0 || slices.ContainsFunc(meta.IgnoredFiles, isGo)
	}
	return exists, nil
}

// parse fills Files and ParseErrors. The error is one of reading.
func (p *Package) parse(fset *token.FileSet) error {
	for _, name := range p.meta.GoFiles {
		file, problems, err := parse(fset, name, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			p.ParseErrors.Add(diag.Diagnostic{Pos: problem.Pos, Message: problem.Msg})
		}
		if file != nil {
			p.Files = append(p.Files, file)
		}
	}
	return nil
}
