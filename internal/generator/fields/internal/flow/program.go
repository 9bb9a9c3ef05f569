// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// Program is a program whose packages are added one by one.
type Program struct {
	a        *analysis
	roots    []*ssa.Package
	followed map[*types.Package]bool
}

// New returns a program without packages. Their positions belong to fset.
func New(fset *token.FileSet) *Program {
	p := &Program{followed: map[*types.Package]bool{}}
	p.a = &analysis{
		graph:     graph{types: &typeFacts{api: map[*types.TypeName]bool{}}, origins: origins{interned: map[origin]*origin{}}},
		record:    record{map[*types.Named]map[useKey]bool{}, map[*types.Named]map[token.Pos]bool{}},
		prog:      ssa.NewProgram(fset, ssa.InstantiateGenerics),
		vertices:  map[ssa.Value]*vertex{},
		tuples:    map[component]*vertex{},
		structs:   structs{known: map[*types.Struct]*types.Struct{}},
		fields:    map[*types.Var]*vertex{},
		pending:   map[*types.Var][]*vertex{},
		stores:    map[ssa.Value]*vertex{},
		functions: map[*ssa.Function]*function{},
		callbacks: map[callbackOf]bool{},
		escaped:   map[escapeKey]bool{},
		sites:     map[*ssa.Call]*site{},
		bindings:  map[*ssa.FreeVar][]ssa.Value{},
		follows:   func(pkg *types.Package) bool { return p.followed[pkg] },
	}
	p.a.prog.CreatePackage(types.Unsafe, nil, nil, true)
	return p
}

// Add adds a package. Its imports must have been added before.
func (p *Program) Add(of *load.CodePackage) {
	built := p.a.prog.CreatePackage(of.Types, of.Files, of.Info, true)
	built.Build()
	p.followed[of.Types] = of.Bodies
	if of.Root {
		p.roots = append(p.roots, built)
	}
	p.a.addTypes(of.Types)
}

// Find returns the kinds that the program gets from caches, and the uses of their objects. It
// follows the functions of the roots and everything they call, in packages with loaded bodies. The
// program can't be used afterwards.
func (p *Program) Find() Found {
	for _, root := range p.roots {
		p.a.addRoot(root)
	}
	p.a.run()
	found := p.a.record
	*p = Program{} // it takes far more memory than the result
	return found.kinds()
}
