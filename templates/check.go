// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"errors"
	"fmt"
	"go/token"

	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// check reports names of the model that collide in the generated code, and names that are not Go
// identifiers.
func check(out *model.Output) error {
	c := checker{}
	if out.Layout == model.Single {
		c.single(out)
		return errors.Join(c.errs...)
	}
	folders := c.space("the folder informers")
	accessors := c.factory()
	names := c.space("the package informers", "SharedInformerFactory", "NewSharedInformerFactory", "factory")
	for _, g := range out.Groups {
		what := fmt.Sprintf("group %q", g.Name)
		folders.add(folder(g.Package), what)
		c.exported(g.GoName, what)
		accessors.add(g.GoName, what)
		names.add(groupInterface(g), what)
		names.add(groupImpl(g), what)
		c.group(g, what)
	}
	return errors.Join(c.errs...)
}

type checker struct {
	errs []error
}

// factory returns the space of the factory's methods.
func (c *checker) factory() *space {
	return c.space("the interface SharedInformerFactory",
		"Base", "ForResource", "SharedInformerFactory", "Shutdown", "Start", "WaitForCacheSync")
}

func (c *checker) group(g *model.Group, group string) {
	folders := c.space("the folder of " + group)
	accessors := c.space("the interface of " + group)
	for _, v := range g.Versions {
		what := fmt.Sprintf("version %q", v.Name)
		folders.add(folder(v.Package), what)
		c.exported(v.GoName, what+" of "+group)
		accessors.add(v.GoName, what)
		version := groupVersion(g, v)
		spaces := spaces{
			files:     c.space("the folders of " + version),
			accessors: c.space("the interface of " + version),
			informers: c.space("the package of the informers of "+version, "Interface", "New", "version"),
			listers:   c.space("the package of the listers of " + version),

			projections: c.space("the package of the projections of " + version),
		}
		for _, t := range v.Types {
			c.kind(t, "type "+t.Name, version, spaces)
		}
	}
}

// single checks the layout in which all types are in one package.
func (c *checker) single(out *model.Output) {
	if !token.IsIdentifier(out.Package) || out.Package == "_" {
		c.errs = append(c.errs, fmt.Errorf("%q can't be the name of the generated package", out.Package))
	}
	all := c.space("the generated package", "SharedInformerFactory", "NewSharedInformerFactory", "factory")
	all.hint = ", or use the grouped layout"
	files := c.space("the output folder")
	files.hint = all.hint
	accessors := c.factory()
	accessors.hint = all.hint
	for _, g := range out.Groups {
		for _, v := range g.Versions {
			version := groupVersion(g, v)
			for _, t := range v.Types {
				c.kind(t, "type "+t.Name+" of "+version, version, spaces{files, accessors, all, all, all})
			}
		}
	}
}

// spaces are those of the names that a type brings. Those of informers and listers may be one.
type spaces struct {
	files, accessors, informers, listers, projections *space
}

func (c *checker) kind(t *model.Type, what, version string, s spaces) {
	of := "type " + t.Name + " of " + version
	c.exported(t.Name, of)
	c.exported(t.Plural, of)
	s.files.add(base(t), what)
	s.accessors.add(t.Plural, what)
	for _, name := range []string{t.Name + "Informer", private(t.Name) + "Informer", "With" + t.Plural} {
		s.informers.add(name, what)
	}
	for _, name := range []string{
		"New" + t.Name + "Lister", t.Name + "Lister", t.Name + "ListerExpansion", t.Name + "Resource", private(t.Name) + "Lister",
	} {
		s.listers.add(name, what)
	}
	c.projection(t, what, s.projections)
	methods := c.space("the lister of "+of, "All", "Get", "InNamespace", "List", "Namespace", "Resource", "Snapshot")
	if t.Namespaced {
		for _, name := range []string{"NamespaceLister", "NamespaceListerExpansion"} {
			s.listers.add(t.Name+name, what)
		}
		s.listers.add(private(t.Name)+"NamespaceLister", what)
		methods.add(t.Plural, what)
	}
	if len(t.Indexes) > 0 {
		s.listers.add(t.Name+"Indexes", what)
		s.listers.add(t.Name+"Lookups", what)
	}
	for _, x := range t.Indexes {
		index := fmt.Sprintf("index %s of type %s", x.Name, t.Name)
		c.exported(x.Name, index+" of "+version)
		s.listers.add(t.Name+x.Name, index)
		s.listers.add(private(t.Name)+x.Name, index)
		s.listers.add(t.Name+x.Name+"Index", index)
		methods.add(x.Name, index)
		methods.add("List"+x.Name, index)
		if len(x.Paths) > 1 {
			s.listers.add(t.Name+x.Name+"Key", index)
			fields := c.space("the key of " + index)
			for _, path := range x.Paths {
				c.exported(path.Name, path.Text+" of "+index+" of "+version)
				fields.add(path.Name, path.Text)
			}
		}
		if problem := wrong(t, x); problem != "" {
			c.errs = append(c.errs, fmt.Errorf("%s of %s %s", index, version, problem))
		}
	}
}

// projection checks the types of a projection.
func (c *checker) projection(t *model.Type, what string, names *space) {
	if t.Projection == nil {
		return
	}
	names.add("New"+t.Name, what)
	for n, s := range t.Projection.Structs {
		of := what + ": " + s.Name
		c.exported(s.Name, of)
		names.add(s.Name, of)
		if (n == 0) != (s.Name == t.Name) {
			c.errs = append(c.errs, fmt.Errorf("%s: struct %d of the projection is called %s", what, n, s.Name))
		}
	}
}

// wrong returns what an index lacks, or has too much.
func wrong(t *model.Type, x *model.Index) string {
	sources := 0
	for _, is := range []bool{len(x.Paths) > 0, x.Owner != nil, x.Func != nil} {
		if is {
			sources++
		}
	}
	switch {
	case sources != 1:
		return "needs either a path, an owner or a function"
	case x.Namespaced && !t.Namespaced:
		return "can't have keys by namespace, since the type is cluster-scoped"
	}
	for _, path := range x.Paths {
		if len(path.Steps) == 0 {
			return "has a path without steps"
		}
	}
	for _, c := range x.When {
		for _, step := range c.Path.Steps {
			if step.Each || step.Keys {
				return "has a condition about the elements of " + c.Path.Text
			}
		}
	}
	return ""
}

func (c *checker) exported(name, what string) {
	if !token.IsIdentifier(name) || !token.IsExported(name) {
		c.errs = append(c.errs, fmt.Errorf("%s: %q is no exported Go name", what, name))
	}
}
