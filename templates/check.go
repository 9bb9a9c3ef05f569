// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"errors"
	"fmt"
	"go/token"

	"github.com/informer-gen/informer-gen/generator/model"
)

// check reports names of the model that collide in the generated code, and names that are not Go identifiers.
func check(out *model.Output) error {
	c := checker{}
	folders := c.space("the folder informers", "factory.go", "resource.go")
	accessors := c.space("the interface SharedInformerFactory",
		"Base", "ForResource", "SharedInformerFactory", "Shutdown", "Start", "WaitForCacheSync")
	for _, g := range out.Groups {
		what := fmt.Sprintf("group %q", g.Name)
		folders.add(folder(g.Package), what)
		c.exported(g.GoName, what)
		accessors.add(g.GoName, what)
		c.group(g, what)
	}
	return errors.Join(c.errs...)
}

type checker struct {
	errs []error
}

func (c *checker) group(g *model.Group, group string) {
	folders := c.space("the folder of "+group, "group.go")
	accessors := c.space("the interface of " + group)
	for _, v := range g.Versions {
		what := fmt.Sprintf("version %q", v.Name)
		folders.add(folder(v.Package), what)
		c.exported(v.GoName, what+" of "+group)
		accessors.add(v.GoName, what)
		c.version(v, groupVersion(g, v))
	}
}

func (c *checker) version(v *model.Version, version string) {
	files := c.space("the folders of " + version)
	accessors := c.space("the interface of " + version)
	informers := c.space("the package of the informers of "+version, "Interface", "New", "version")
	listers := c.space("the package of the listers of " + version)
	for _, t := range v.Types {
		what := "type " + t.Name
		c.exported(t.Name, what+" of "+version)
		c.exported(t.Plural, what+" of "+version)
		files.add(base(t), what)
		accessors.add(t.Plural, what)
		informers.add(t.Name+"Informer", what)
		informers.add(private(t.Name)+"Informer", what)
		listers.add("New"+t.Name+"Lister", what)
		listers.add(t.Name+"Lister", what)
		listers.add(t.Name+"ListerExpansion", what)
		listers.add(t.Name+"Resource", what)
		listers.add(private(t.Name)+"Lister", what)
		methods := c.space("the lister of "+what+" of "+version, "All", "Get", "List", "Resource", "Snapshot")
		if t.Namespaced {
			listers.add(t.Name+"NamespaceLister", what)
			listers.add(t.Name+"NamespaceListerExpansion", what)
			listers.add(private(t.Name)+"NamespaceLister", what)
			methods.add(t.Plural, what)
		}
		if len(t.Indexes) > 0 {
			listers.add(t.Name+"Indexes", what)
		}
		for _, x := range t.Indexes {
			index := fmt.Sprintf("index %s of %s", x.Name, what)
			c.exported(x.Name, index+" of "+version)
			listers.add(t.Name+x.Name, index)
			methods.add(x.Name, index)
			methods.add("List"+x.Name, index)
			if (len(x.Paths) == 0) == (x.Func == nil) || len(x.Paths) > 0 && len(x.Paths[0].Steps) == 0 {
				c.errs = append(c.errs, fmt.Errorf("%s of %s needs either a path or a function", index, version))
			}
		}
	}
}

func (c *checker) exported(name, what string) {
	if !token.IsIdentifier(name) || !token.IsExported(name) {
		c.errs = append(c.errs, fmt.Errorf("%s: %q is no exported Go name", what, name))
	}
}

// space returns a name space in which some names are taken by what is generated for everyone.
func (c *checker) space(where string, taken ...string) *space {
	s := &space{c: c, where: where, by: map[string]string{}}
	for _, name := range taken {
		s.by[name] = "the generated code itself"
	}
	return s
}

type space struct {
	c     *checker
	where string
	by    map[string]string
}

func (s *space) add(name, what string) {
	if other, ok := s.by[name]; ok {
		s.c.errs = append(s.c.errs,
			fmt.Errorf("%s and %s both need the name %q in %s: one must be called otherwise", other, what, name, s.where))
		return
	}
	s.by[name] = what
}
