// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"maps"
	"path"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

type pkg struct {
	dir  string // relative to the output folder
	path string // import path
	name string
	// declared has names forbidden to imports of its files: unexported generated ones, and those
	// declared in handwritten files.
	declared map[string]bool
}

// packages are the packages of an output; in the layout Single they are all the same.
type packages struct {
	out       *model.Output
	root      *pkg // of the factory
	informers map[*model.Version]*pkg
	listers   map[*model.Version]*pkg
	// projections lacks versions without projections.
	projections map[*model.Version]*pkg
	// configurations lacks versions without apply configurations.
	configurations map[*model.Version]*pkg
	kinds          map[*model.Version][]*kind
	all            []*kind
}

func newPackages(out *model.Output) *packages {
	p := &packages{
		out: out, informers: map[*model.Version]*pkg{}, listers: map[*model.Version]*pkg{}, projections: map[*model.Version]*pkg{},
		configurations: map[*model.Version]*pkg{},
		kinds:          map[*model.Version][]*kind{},
	}
	if out.Layout == model.Single {
		p.root = newPkg(out, ".", out.Package, "factory")
	} else {
		p.root = newPkg(out, "informers", "informers", "factory")
	}
	for _, g := range out.Groups {
		for _, v := range g.Versions {
			p.addVersion(g, v)
		}
	}
	return p
}

func (p *packages) addVersion(g *model.Group, v *model.Version) {
	informers, listers := p.root, p.root
	if p.out.Layout != model.Single {
		informers = newPkg(p.out, p.out.Layout.InformerDir(g, v), v.Package, "version")
		listers = newPkg(p.out, p.out.Layout.ListerDir(g, v), v.Package)
	}
	maps.Copy(listers.declared, v.Declared)
	for _, t := range v.Types {
		k := &kind{Type: t, Group: g, Version: v, informers: informers, listers: listers, controllers: p.out.Controllers}
		informers.declared[k.Unexported()+"Informer"] = true
		listers.declared[k.Unexported()+"Lister"] = true
		listers.declared[k.Unexported()+"NamespaceLister"] = true
		for _, x := range t.Indexes {
			listers.declared[indexVar(k, x)] = true
		}
		if t.Projection != nil {
			k.projections = p.optional(p.projections, p.out.Layout.ProjectionDir(g, v), v)
		}
		if t.Apply != nil {
			k.configurations = p.optional(p.configurations, p.out.Layout.ApplyDir(g, v), v)
		}
		p.kinds[v] = append(p.kinds[v], k)
		p.all = append(p.all, k)
	}
	p.informers[v], p.listers[v] = informers, listers
}

// optional returns the package of v among packages, which few versions have, and adds it if it is
// missing.
func (p *packages) optional(packages map[*model.Version]*pkg, dir string, v *model.Version) *pkg {
	if packages[v] == nil {
		packages[v] = p.root
		if p.out.Layout != model.Single {
			packages[v] = newPkg(p.out, dir, v.Package)
		}
	}
	return packages[v]
}

func newPkg(out *model.Output, dir, name string, declared ...string) *pkg {
	p := &pkg{dir: dir, path: path.Join(out.ImportPath, dir), name: name, declared: map[string]bool{}}
	for _, name := range declared {
		p.declared[name] = true
	}
	return p
}

// source returns the import path of the package behind a version's kinds; "" if there are several.
func (p *packages) source(v *model.Version) string {
	path := ""
	for n, t := range v.Types {
		if n > 0 && t.Source.Path != path {
			return ""
		}
		path = t.Source.Path
	}
	return path
}
