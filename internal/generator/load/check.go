// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Check fills Types and TypeErrors of the packages, which must be Roots of p or results of Import.
// It checks each package once, however often it is called, and may be called from several
// goroutines.
func (p *Program) Check(roots ...*Package) {
	var wait sync.WaitGroup
	for _, root := range roots {
		wait.Go(func() { p.checker.root(root) })
	}
	wait.Wait()
}

type checker struct {
	fset *token.FileSet
	// slots bounds the goroutines that parse or check at a time: each holds a slot of the channel
	// only while it does so, and never while it waits for a package.
	slots chan struct{}

	// changed only by list and add, while nothing is being checked
	metas  map[string]*packages.Package // by import path
	visits map[string]visit             // by ID
	cyclic map[edge]bool                // imports that close a cycle
	roots  map[string]*Package          // by ID

	mu    sync.Mutex // guards units
	units map[string]*unit
}

type edge struct{ from, to string }

type unit struct {
	once     sync.Once
	types    *types.Package
	problems diag.List
}

func newChecker(fset *token.FileSet) *checker {
	return &checker{
		fset:   fset,
		slots:  make(chan struct{}, runtime.GOMAXPROCS(0)),
		metas:  map[string]*packages.Package{},
		visits: map[string]visit{},
		cyclic: map[edge]bool{},
		roots:  map[string]*Package{},
		units:  map[string]*unit{},
	}
}

type visit int

const (
	notYet visit = iota
	open
	done
)

func (c *checker) list(roots []*Package) {
	for _, p := range roots {
		c.roots[p.meta.ID] = p
		c.add(p.meta)
	}
}

// add takes in a package and its imports. It finds the imports that close a cycle, so no two
// packages wait for each other.
func (c *checker) add(p *packages.Package) {
	if c.visits[p.ID] != notYet {
		return
	}
	c.visits[p.ID] = open
	c.metas[p.PkgPath] = p
	for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
		dep := p.Imports[path]
		if c.visits[dep.ID] == open {
			c.cyclic[edge{p.ID, dep.ID}] = true
		}
		c.add(dep)
	}
	c.visits[p.ID] = done
}

func (c *checker) unit(id string) *unit {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.units[id]
	if u == nil {
		u = &unit{}
		c.units[id] = u
	}
	return u
}

func (c *checker) root(root *Package) {
	u := c.unit(root.meta.ID)
	u.once.Do(func() {
		u.types, u.problems = c.check(root.meta, root.Files, true)
		root.Types, root.TypeErrors = u.types, u.problems
	})
}

func (c *checker) dependency(meta *packages.Package) *types.Package {
	if root := c.roots[meta.ID]; root != nil {
		c.root(root)
		return root.Types
	}
	u := c.unit(meta.ID)
	u.once.Do(func() {
		files := make([]*ast.File, 0, len(meta.GoFiles))
		c.slots <- struct{}{}
		for _, name := range meta.GoFiles {
			// A problem in a dependency shows where a root uses a missing declaration.
			if file, _, err := parse(c.fset, name, 0); err == nil && file != nil {
				files = append(files, file)
			}
		}
		<-c.slots
		u.types, _ = c.check(meta, files, false)
	})
	return u.types
}
