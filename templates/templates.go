// SPDX-License-Identifier: Apache-2.0

// Package templates writes the generated Go files from a model, with one emitter for each kind of
// file:
//
//	informers/factory.go                       factory.go   SharedInformerFactory
//	informers/groups.go                        groups.go    AppsGroup, with its versions
//	informers/resource.go                      resource.go  ForResource
//	informers/<group>/<version>/version.go     version.go   the types of a version
//	informers/<group>/<version>/widget.go      informer.go  WidgetInformer, WithWidgets
//	listers/<group>/<version>/doc.go           lister.go    the package comment
//	…                         expansion_generated.go        expansions not declared by the user
//	                                           expansions.go
//	listers/<group>/<version>/widget.go        lister.go    WidgetLister
//	                                           index.go     its indexes
//	                                           lookups.go   methods of listers for them
//	projections/<group>/<version>/doc.go       projection.go  the package comment
//	projections/<group>/<version>/widgetsize.go             the types of a projection
//	                                           metadata.go  accessors of their metadata
//	                                           copy.go      their copies
//	                                           convert.go   one made of a Widget
//	applyconfigurations/<group>/<version>/doc.go     apply.go  the package comment
//	applyconfigurations/<group>/<version>/widget.go            the types of an apply configuration
//
// The layout Single has one folder with factory.go, resource.go, expansion_generated.go and, for
// each type, widget.go (single.go).
//
// The generated code consists of declarations and one-line methods over the packages of runtime/,
// which this package names only in text. The one piece of logic is the walk (walk.go) from an
// object to the keys of an index. Emitters read only the model and run no other program, so equal
// models give equal bytes.
package templates

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// Render returns the files for out, sorted by Path. It uses names as given, and fails if they don't
// form Go code. It does not change the model. It renders up to GOMAXPROCS files at a time.
func Render(out *model.Output) ([]model.File, error) {
	emitters := emitters(newPackages(out))
	files := make([]model.File, len(emitters))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, emit := range emitters {
		group.Go(func() error {
			f := emit()
			content, err := f.render(out.Header)
			if err != nil {
				return fmt.Errorf("writing %s: %w", f.path(), err)
			}
			files[n] = model.File{Path: f.path(), Source: f.source, Content: content}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b model.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// emitters returns a function for each file. They only read their shared data.
func emitters(p *packages) []func() *file {
	emitters := []func() *file{
		func() *file { return factoryFile(p) },
		func() *file { return resourceFile(p) },
	}
	add := func(emit func() *file) { emitters = append(emitters, emit) }
	single := p.out.Layout == model.Single
	if single && hasExpansions(p.all) {
		add(func() *file { return expansionsFile(p.root, "", p.all) })
	}
	if !single && len(p.out.Groups) > 0 {
		add(func() *file { return groupsFile(p) })
	}
	for _, g := range p.out.Groups {
		if single {
			break
		}
		for _, v := range g.Versions {
			add(func() *file { return versionFile(p, g, v) })
			add(func() *file { return listerDocFile(p, g, v) })
			if p.projections[v] != nil {
				add(func() *file { return projectionDocFile(p, g, v) })
			}
			if p.configurations[v] != nil {
				add(func() *file { return applyDocFile(p, g, v) })
			}
			if hasExpansions(p.kinds[v]) {
				add(func() *file { return expansionsFile(p.listers[v], p.source(v), p.kinds[v]) })
			}
		}
	}
	for _, k := range p.all {
		if single {
			add(func() *file { return kindFile(k) })
			continue
		}
		add(func() *file { return informerFile(k) })
		add(func() *file { return listerFile(k) })
		if k.Projection != nil {
			add(func() *file { return projectionFile(k) })
		}
		if k.Apply != nil {
			add(func() *file { return applyFile(k) })
		}
	}
	return emitters
}
