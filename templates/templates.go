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
//	listers/<group>/<version>/widget.go        lister.go    WidgetLister
//	                                           index.go     its indexes, and methods for them
//
// The layout Single has one folder with factory.go, resource.go, expansion_generated.go and, for
// each type, widget.go (single.go).
//
// The generated code is declarations and one-line methods over the packages of runtime/, which
// templates names in text only; the walk (walk.go) from an object to the keys of an index is the
// one piece of logic. The emitters read nothing but the model and run no other program, so that
// equal models give equal bytes.
package templates

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/informer-gen/informer-gen/generator/model"
)

// Render returns the files for out, sorted by Path. It fails, with all reasons joined, when names
// of the model collide in one Go package, interface or folder, or are not Go identifiers. It does
// not change the model. It writes as many files at a time as there are processors for it.
func Render(out *model.Output) ([]model.File, error) {
	if err := check(out); err != nil {
		return nil, err
	}
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
	sortFiles(files)
	return files, nil
}

// emitters has a function for each file. They share what they read, and write nothing that they
// share.
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
	}
	return emitters
}

// ListerDir is the folder of a version's listers, relative to the output folder and with slashes;
// "." in the layout Single. Expansion interfaces are declared there by the user.
func ListerDir(layout model.Layout, g *model.Group, v *model.Version) string {
	if layout == model.Single {
		return "."
	}
	return path.Join("listers", folder(g.Package), folder(v.Package))
}

// expansionFile is the name of the file in ListerDir in which the user may declare the expansion
// interfaces of t.
func expansionFile(t *model.Type) string {
	return base(t) + "_expansion.go"
}

func informerDir(g *model.Group, v *model.Version) string {
	return path.Join("informers", folder(g.Package), folder(v.Package))
}

// base is the name of a type's files without their endings. An underscore could make the go command
// take the ending for that of a test or of an operating system, and the names of our own files are
// taken.
func base(t *model.Type) string {
	name := strings.ToLower(t.Name)
	switch {
	case strings.Contains(name, "_"), name == "doc", name == "factory", name == "resource", name == "version":
		return name + "_kind"
	}
	return name
}

// groupVersion is how people write a version of a group: "apps/v1", "v1" in the core group.
func groupVersion(g *model.Group, v *model.Version) string {
	if g.Name == "" {
		return v.Name
	}
	return g.Name + "/" + v.Name
}
