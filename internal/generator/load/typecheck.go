// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

func (c *checker) check(meta *packages.Package, files []*ast.File, root bool) (*types.Package, diag.List) {
	small := make([]*ast.File, len(files))
	// the imports of the files, and those among them that only functions need
	needed, funcOnly := map[string]bool{}, map[string]bool{}
	keep := keepTypes
	if root {
		keep = keepFunctions
	}
	for i, file := range files {
		var onlyHere map[string]bool
		small[i], onlyHere = pruned(file, keep, nameIn(meta))
		for _, spec := range small[i].Imports {
			path := strings.Trim(spec.Path.Value, "`\"")
			funcOnly[path] = onlyHere[path] && (funcOnly[path] || !needed[path])
			needed[path] = true
		}
	}
	imported := c.imports(meta, needed)

	var problems diag.List
	config := typesConfig(importer{meta, imported, c.cyclic})
	config.IgnoreFuncBodies = true
	config.Error = func(err error) {
		var e types.Error
		if !root || !errors.As(err, &e) || inFunction(small, e.Pos) || importOnlyForFunctions(small, e.Pos, funcOnly) {
			return
		}
		problems.Add(diag.Diagnostic{Pos: c.fset.Position(e.Pos), Message: oneLine(e.Msg)})
	}
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	// the error repeats the first one passed to config.Error
	pkg, _ := config.Check(meta.PkgPath, c.fset, small, nil)
	return pkg, problems
}

// nameIn returns a function from the import paths of meta to package names; "" for missing
// packages.
func nameIn(meta *packages.Package) func(path string) string {
	return func(path string) string {
		if dep := meta.Imports[path]; dep != nil {
			return dep.Name
		}
		return ""
	}
}

// typesConfig returns the type checker's configuration for the package with these imports.
func typesConfig(imports importer) types.Config {
	config := types.Config{Importer: imports, FakeImportC: true, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	if m := imports.meta.Module; m != nil && m.GoVersion != "" {
		config.GoVersion = "go" + m.GoVersion
	}
	return config
}

// imports checks the packages that meta needs, in parallel.
func (c *checker) imports(meta *packages.Package, needed map[string]bool) map[string]*types.Package {
	var (
		wait     sync.WaitGroup
		mu       sync.Mutex // guards imported
		imported = map[string]*types.Package{}
	)
	for path := range needed {
		dep := meta.Imports[path]
		if dep == nil || path == "unsafe" || c.cyclic[edge{meta.ID, dep.ID}] || len(dep.GoFiles) == 0 {
			continue
		}
		wait.Go(func() {
			pkg := c.dependency(dep)
			mu.Lock()
			defer mu.Unlock()
			imported[path] = pkg
		})
	}
	wait.Wait()
	return imported
}

// importer hands out the imports of one package.
type importer struct {
	meta     *packages.Package
	imported map[string]*types.Package
	cyclic   map[edge]bool
}

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if pkg := i.imported[path]; pkg != nil {
		return pkg, nil
	}
	dep := i.meta.Imports[path]
	switch {
	case dep == nil:
		for _, e := range i.meta.Errors {
			if strings.Contains(e.Msg, path) {
				return nil, errors.New(oneLine(e.Msg))
			}
		}
		return nil, fmt.Errorf("the go command doesn't find package %s", path)
	case i.cyclic[edge{i.meta.ID, dep.ID}]:
		return nil, errCycle
	case len(dep.Errors) > 0:
		return nil, errors.New(oneLine(dep.Errors[0].Msg))
	}
	return nil, fmt.Errorf("package %s has no Go files", path)
}

// inFunction reports whether pos lies in a function. Signatures are checked where they are used.
func inFunction(files []*ast.File, pos token.Pos) bool {
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Pos() <= pos && pos <= f.End() {
				return true
			}
		}
	}
	return false
}

func importOnlyForFunctions(files []*ast.File, pos token.Pos, funcOnly map[string]bool) bool {
	for _, file := range files {
		for _, spec := range file.Imports {
			if spec.Pos() <= pos && pos <= spec.End() && funcOnly[strings.Trim(spec.Path.Value, "`\"")] {
				return true
			}
		}
	}
	return false
}
