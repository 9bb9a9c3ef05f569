// SPDX-License-Identifier: Apache-2.0

// Package apply builds apply configurations: types with the fields of kinds in which every field
// may be unset, so that a server-side apply sends no field by accident. Those of client-go serve
// for the types of Kubernetes itself.
package apply

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// Suffix ends the names of apply configurations, here and in client-go.
const Suffix = "ApplyConfiguration"

const metaConfigurations = model.ClientGoConfigurations + "meta/v1"

// Kind is a kind, for an apply configuration.
type Kind struct {
	Name string
	// Type is a struct that embeds metav1.TypeMeta and metav1.ObjectMeta.
	Type *types.Named
	Pos  token.Position
}

// Reader builds the apply configurations of kinds.
type Reader struct {
	report *report.Report
	output string
	docs   *gotypes.Docs
	// clientGo has the names of client-go's apply configurations by package.
	clientGo map[string]map[string]bool
}

// NewReader returns a Reader that reports errors to r. It looks up client-go's apply configurations
// for the types in kinds, which must have been checked. output is the import path of the output
// folder.
func NewReader(ctx context.Context, r *report.Report, program *load.Program, output string, kinds []*types.Named) (*Reader, error) {
	reader := &Reader{report: r, output: output, docs: &gotypes.Docs{Position: r.Position}, clientGo: map[string]map[string]bool{}}
	if len(kinds) == 0 {
		return reader, nil
	}
	needed, seen := map[string]bool{metaConfigurations: true}, map[types.Type]bool{}
	for _, kind := range kinds {
		findPackages(kind, seen, needed)
	}
	var paths []string
	for path := range needed {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	packages, err := program.Import(ctx, paths...)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		if packages[i] != nil {
			reader.clientGo[path] = declaredTypes(packages[i])
		}
	}
	if !reader.clientGo[metaConfigurations]["ObjectMeta"+Suffix] {
		r.FailAt(token.Position{}, "apply configurations are made of client-go's, but the go command doesn't find package "+
			metaConfigurations+": run go get k8s.io/client-go, or omit applyConfigurations")
	}
	return reader, nil
}

// findPackages adds the packages of client-go for the types in t to needed.
func findPackages(t types.Type, seen map[types.Type]bool, needed map[string]bool) {
	t = types.Unalias(t)
	if seen[t] {
		return
	}
	seen[t] = true
	if path := counterpart(t); path != "" {
		needed[path] = true
		return
	}
	for part := range gotypes.Parts(t) {
		findPackages(part, seen, needed)
	}
}

// counterpart returns the package of client-go that may have the apply configuration for a struct
// of Kubernetes; "" for other types.
func counterpart(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || gotypes.MarshalsItself(t) {
		return ""
	}
	if _, ok := named.Underlying().(*types.Struct); !ok {
		return ""
	}
	path := named.Obj().Pkg().Path()
	if path == gotypes.MetaPath {
		return metaConfigurations
	}
	if version, ok := strings.CutPrefix(path, "k8s.io/api/"); ok {
		return model.ClientGoConfigurations + version
	}
	return ""
}

func declaredTypes(pkg *load.Package) map[string]bool {
	names := map[string]bool{}
	for _, file := range pkg.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						names[spec.Name.Name] = true
					}
				}
			}
		}
	}
	return names
}

// Has reports whether client-go has the apply configuration of a type.
func (r *Reader) Has(t types.Type) bool { return r.ofClientGo(t).Path != "" }

// ofClientGo returns client-go's apply configuration of a type. One of client-go's, in an API type,
// is its own.
func (r *Reader) ofClientGo(t types.Type) model.GoType {
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), model.ClientGoConfigurations) {
		return model.GoType{Path: named.Obj().Pkg().Path(), Package: named.Obj().Pkg().Name(), Name: named.Obj().Name()}
	}
	path := counterpart(t)
	if path == "" {
		return model.GoType{}
	}
	name := t.(*types.Named).Obj().Name() + Suffix
	if !r.clientGo[path][name] {
		return model.GoType{}
	}
	return model.GoType{Path: path, Package: path[strings.LastIndexByte(path, '/')+1:], Name: name}
}

// Read returns the apply configurations of kinds, in their order, for one generated package. A
// struct that several of them have is declared with the first one.
func (r *Reader) Read(kinds []Kind) []*model.ApplyConfiguration {
	p := pkg{Reader: r, own: map[*types.Package]bool{}, taken: map[string]bool{}, structs: map[string]string{}}
	for _, kind := range kinds {
		p.own[kind.Type.Obj().Pkg()] = true
		p.taken[kind.Name], p.taken[kind.Name+Suffix] = true, true // a function and a type
		p.structs[key(kind.Type)] = kind.Name + Suffix
	}
	all := make([]*model.ApplyConfiguration, len(kinds))
	for i, kind := range kinds {
		p.out = &model.ApplyConfiguration{}
		all[i] = p.out
		if gotypes.MarshalsItself(kind.Type) {
			r.report.FailAt(kind.Pos, fmt.Sprintf("type %s has its own JSON encoding, so it can't have an apply configuration", kind.Name))
			continue
		}
		p.addKind(kind)
	}
	return all
}

func key(t types.Type) string {
	return types.TypeString(t, (*types.Package).Path)
}
