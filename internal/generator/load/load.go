// SPDX-License-Identifier: Apache-2.0

// Package load turns package patterns into syntax and types. Nothing else in the generator runs the
// go command.
//
// One call of the go command lists the packages and all their dependencies. From then on, the
// caller pays only for its requests: the syntax of packages matched by the patterns, and the types
// of packages it names. Those are checked from source, with the parts of their imports that their
// types consist of. Function bodies and variables are ignored, so a package loads although its
// functions use code not yet generated. For the same reason nothing is compiled: except for the go
// command's own index, an empty build cache makes no load slower. If a context ends before a call
// is done, the call's error is the context's cause.
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

// Config selects packages to load.
type Config struct {
	// Dir is the absolute path of the folder for relative patterns; its module resolves the others.
	Dir string
	// Patterns are the go command's: import paths, folders, "./...".
	Patterns []string
	// Env is the environment of the go command; nil means the process's.
	Env []string
	// Tags are build tags. If there are any, they replace those in GOFLAGS.
	Tags []string
	// Skip may be nil. Matched packages in a folder for which it returns true are left out, whether
	// they compile or not.
	Skip func(dir string) bool
}

// Program is the result of [Load].
type Program struct {
	// Fset has the positions of all syntax and types.
	Fset *token.FileSet
	// Roots are the packages matched by the patterns, sorted by import path.
	Roots []*Package

	cfg     Config
	checker *checker
}

// Package is a package matched by a pattern, or returned by [Program.Import].
type Package struct {
	// Path is the import path, Name the name in the package clause.
	Path, Name string
	// Dir is the package's folder.
	Dir string
	// Files are parsed with comments; function bodies are empty.
	Files []*ast.File
	// ParseErrors say why the package's syntax is incomplete; empty if it is complete.
	ParseErrors diag.List
	// Types and TypeErrors are set by [Program.Check]. Types isn't nil then, even if there are
	// errors.
	Types      *types.Package
	TypeErrors diag.List

	meta *packages.Package
}

// Main reports whether the package belongs to a main module, and not to a required one.
func (p *Package) Main() bool { return p.meta.Module == nil || p.meta.Module.Main }

// Query returns the argument of a go get for the package's needs: its import path and, in another
// module, the version.
func (p *Package) Query() string {
	if m := p.meta.Module; !p.Main() && m.Version != "" {
		return p.Path + "@" + m.Version
	}
	return p.Path
}

func newPackage(meta *packages.Package) *Package {
	return &Package{Path: meta.PkgPath, Name: meta.Name, Dir: meta.Dir, meta: meta}
}

// Load lists the packages of cfg and parses those matched by the patterns. The error is a
// [diag.List] if the go command rejects the patterns themselves. Problems inside packages are left
// to the caller, who knows which packages matter.
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

// Import returns the packages with the given import paths, in order, ready for Check; nil stands
// for missing ones. They need not be Roots. The go command runs again only for a package that
// neither the patterns matched nor a root needs. Call Import before Check: a package already
// checked as another one's import would get separate types. Neither may run while the other does.
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

// Dependency returns root's import with the given path, without functions and variables; nil if
// root doesn't import it, or if it has no Go files.
func (p *Program) Dependency(root *Package, path string) *types.Package {
	dep := root.meta.Imports[path]
	if dep == nil || len(dep.GoFiles) == 0 || p.checker.cyclic[edge{root.meta.ID, dep.ID}] {
		return nil
	}
	return p.checker.dependency(dep)
}

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

// Exists reports for each import path whether there is a package with Go files, even for other
// systems or build tags.
func Exists(ctx context.Context, cfg Config, paths []string) (map[string]bool, error) {
	listed, err := cfg.list(ctx, filesOnly, paths)
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
