// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"path"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/informer-gen/informer-gen/generator/model"
)

// pkg is a Go package that is generated.
type pkg struct {
	dir      string // relative to the output folder
	path     string // import path
	name     string
	declared map[string]bool // unexported names in it, which no import of its files may have
}

// kind is a type, where it stands, and where it is generated.
type kind struct {
	*model.Type
	Group   *model.Group
	Version *model.Version
	// informers and listers are the same package in the layout Single.
	informers, listers *pkg
}

// packages are those of an output; in the layout Single they are all the same.
type packages struct {
	out       *model.Output
	root      *pkg // of the factory
	informers map[*model.Version]*pkg
	listers   map[*model.Version]*pkg
	kinds     map[*model.Version][]*kind
	all       []*kind
}

func newPackages(out *model.Output) *packages {
	p := &packages{
		out: out, informers: map[*model.Version]*pkg{}, listers: map[*model.Version]*pkg{},
		kinds: map[*model.Version][]*kind{},
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
		informers = newPkg(p.out, informerDir(g, v), folder(v.Package), "version")
		listers = newPkg(p.out, ListerDir(p.out.Layout, g, v), folder(v.Package))
	}
	for _, t := range v.Types {
		k := &kind{Type: t, Group: g, Version: v, informers: informers, listers: listers}
		informers.declared[k.private()+"Informer"] = true
		listers.declared[k.private()+"Lister"] = true
		listers.declared[k.private()+"NamespaceLister"] = true
		p.kinds[v] = append(p.kinds[v], k)
		p.all = append(p.all, k)
	}
	p.informers[v], p.listers[v] = informers, listers
}

func newPkg(out *model.Output, dir, name string, declared ...string) *pkg {
	p := &pkg{dir: dir, path: path.Join(out.ImportPath, dir), name: name, declared: map[string]bool{}}
	for _, name := range declared {
		p.declared[name] = true
	}
	return p
}

// source is the import path of the package that the kinds of a version come from; "" when there is
// more than one.
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

// file begins widget.go in p.
func (k *kind) file(p *pkg, taken ...string) *file {
	f := newFile(p, base(k.Type)+".go", k.Source.Path, taken...)
	f.usesDeprecated = k.Deprecated != "" || k.Source.Deprecated
	return f
}

// lister is an identifier of the package of k's lister.
func (f *file) lister(k *kind, id string) *jen.Statement { return f.from(k.listers, "listers", id) }

func (k *kind) private() string { return private(k.Name) }

// documented is a comment that begins with a sentence of ours, goes on with the type's own doc
// comment, and says if the type is deprecated.
func (k *kind) documented(sentence string) *jen.Statement {
	lines := fold(sentence)
	if len(k.Doc) > 0 {
		lines = append(append(lines, ""), sentences(k.Doc)...)
	}
	return verbatim(append(lines, k.deprecation()...))
}

// sentences is a doc comment to be set between other paragraphs. A line of its own at its beginning
// or end would be taken for a heading there if it doesn't end as a sentence does.
func sentences(doc []string) []string {
	doc = slices.Clone(doc)
	last := len(doc) - 1
	if last == 0 || doc[1] == "" {
		doc[0] = sentence(doc[0])
	}
	if last > 0 && doc[last-1] == "" {
		doc[last] = sentence(doc[last])
	}
	return doc
}

// sentence is a line that begins as a sentence does, with a full stop if nothing ends it.
func sentence(line string) string {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	if unicode.IsUpper(first) && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
		return line + "."
	}
	return line
}

// deprecation is the end of a comment: the paragraph by which tools know what is deprecated.
func (k *kind) deprecation() []string {
	if k.Deprecated == "" {
		return nil
	}
	return append([]string{""}, fold("Deprecated: "+k.Deprecated)...)
}

// private is the name of an unexported declaration that belongs to an exported one: Widget gives
// widget, APIService gives apiService, VPA gives vpa.
func private(name string) string {
	runes := []rune(name)
	n := 0
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	if n > 1 && n < len(runes) && unicode.IsLower(runes[n]) {
		n--
	}
	for i := range n {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
