// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

var likeVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// groupVersion decides the group, its name in Go and the version of a package. A group that can't
// be decided has no position.
func (r *resolver) groupVersion(a *api) {
	clause := r.fset.Position(a.pkg.Files[0].Name.Pos())
	if first := a.firstKind(); first.IsValid() {
		for _, file := range a.pkg.Files {
			if r.fset.Position(file.Name.Pos()).Filename == first.Filename {
				clause = r.fset.Position(file.Name.Pos())
			}
		}
	}
	inScheme := r.registered(a)
	a.version = r.versionOf(a, inScheme, clause)
	a.group = r.groupOf(a, inScheme, clause)
	a.groupGoName = r.goNameOf(a)
	r.deprecations(a)
}

func (a *api) firstKind() token.Position {
	if len(a.kinds) == 0 {
		return token.Position{}
	}
	return a.kinds[0].pos
}

func (r *resolver) groupOf(a *api, inScheme registered, clause token.Position) named {
	markers := marker.All[marker.GroupName](a.markers)
	if len(markers) == 0 && inScheme.group.pos.IsValid() {
		if group := inScheme.group; !isGroup(group.text) {
			r.failAt(group.pos, fmt.Sprintf("%q of %s %s", group.text, group.from, notAGroup))
			return named{}
		}
		return inScheme.group
	}
	if len(markers) == 0 {
		r.report.Add(diag.Diagnostic{
			Pos: clause, Marker: "+groupName",
			Message: "package " + a.pkg.Path + " has API types but no API group: " +
				a.advice("// +groupName=NAME in a comment of any of its files", "groupName: NAME"),
		})
		return named{}
	}
	first := markers[0]
	for _, m := range markers[1:] {
		if m.Name.Text != first.Name.Text {
			r.fail(m.At, valuePos(m.Name, m.At), fmt.Sprintf("the package's group is %q at %s and %q here",
				first.Name.Text, r.short(first.Pos), m.Name.Text), nil)
			return named{}
		}
	}
	if !isGroup(first.Name.Text) {
		r.fail(first.At, valuePos(first.Name, first.At), fmt.Sprintf("%q %s", first.Name.Text, notAGroup), nil)
		return named{}
	}
	if inScheme.group.pos.IsValid() && inScheme.group.text != first.Name.Text {
		r.fail(first.At, valuePos(first.Name, first.At), fmt.Sprintf("group %q contradicts group %q of %s at %s",
			first.Name.Text, inScheme.group.text, inScheme.name, r.short(inScheme.group.pos)), nil)
	}
	return named{first.Name.Text, first.Pos, first.At.Name}
}

func (r *resolver) versionOf(a *api, inScheme registered, clause token.Position) named {
	markers := marker.All[marker.VersionName](a.markers)
	for _, m := range markers {
		if m.Name.Text != markers[0].Name.Text {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("the package's version is %q at %s and %q here",
				markers[0].Name.Text, r.short(markers[0].Pos), m.Name.Text), nil)
			return named{}
		}
	}
	if len(markers) > 0 {
		m := markers[0]
		if !isVersion(m.Name.Text) {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("%q is no name for a version: it takes lower-case letters and digits", m.Name.Text), nil)
			return named{}
		}
		if inScheme.version.pos.IsValid() && inScheme.version.text != m.Name.Text {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("version %q contradicts version %q of %s at %s",
				m.Name.Text, inScheme.version.text, inScheme.name, r.short(inScheme.version.pos)), nil)
		}
		return named{m.Name.Text, m.Pos, m.At.Name}
	}
	if inScheme.version.pos.IsValid() && isVersion(inScheme.version.text) {
		return inScheme.version
	}
	if likeVersion.MatchString(a.pkg.Name) {
		return named{a.pkg.Name, clause, "the name of the package"}
	}
	if folder := filepath.Base(a.pkg.Dir); likeVersion.MatchString(folder) {
		return named{folder, clause, "the name of the package's folder"}
	}
	r.report.Add(diag.Diagnostic{
		Pos: clause, Marker: "+versionName",
		Message: fmt.Sprintf("neither the name of package %s nor its folder is an API version like v1alpha1: %s", a.pkg.Path,
			a.advice("// +versionName=NAME in a comment of it", "versionName: NAME")),
	})
	return named{}
}

// advice returns what to write: a comment, or a line for the package in the configuration file if
// it is someone else's.
func (a *api) advice(comment, line string) string {
	if a.pkg.Main() {
		return "write " + comment
	}
	return "write " + line + " for it in informer-gen.yaml"
}

const notAGroup = "is no name for a group: it takes lower-case letters, digits, - and dots between them"

// isGroup reports whether a text can be the name of a group; the core group has none.
func isGroup(s string) bool {
	return s == "" || len(validation.IsDNS1123Subdomain(s)) == 0
}

// adviseGoName returns how the package's group gets another name in Go.
func (a *api) adviseGoName() string {
	return a.advice("+groupGoName=NAME in a comment of package "+a.pkg.Path, "groupGoName: NAME")
}

func isVersion(s string) bool {
	return len(validation.IsDNS1035Label(s)) == 0 && !strings.Contains(s, "-")
}

// goNameOf returns the group's name in Go; its position is valid if a marker gives it.
func (r *resolver) goNameOf(a *api) named {
	markers := marker.All[marker.GroupGoName](a.markers)
	for _, m := range markers {
		if m.Name.Text != markers[0].Name.Text {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("the group's Go name is %q at %s and %q here",
				markers[0].Name.Text, r.short(markers[0].Pos), m.Name.Text), nil)
		}
	}
	if len(markers) > 0 {
		m := markers[0]
		if !token.IsIdentifier(m.Name.Text) || !token.IsExported(m.Name.Text) {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("%q is no exported Go name%s", m.Name.Text, didYouMeanExported(m.Name.Text)), nil)
		}
		return named{m.Name.Text, m.Pos, m.At.Name}
	}
	if a.group.text == "" {
		return named{text: "Core", from: "the name of the core group"}
	}
	first, _, _ := strings.Cut(a.group.text, ".")
	var goName strings.Builder
	for word := range strings.SplitSeq(first, "-") {
		goName.WriteString(upperFirst(word))
	}
	if !token.IsIdentifier(goName.String()) {
		r.report.Add(diag.Diagnostic{
			Pos: a.group.pos, Marker: "+groupName",
			Message: fmt.Sprintf("no Go name begins like %q: %s", a.group.text, a.adviseGoName()),
		})
	}
	return named{text: goName.String(), from: "the first part of the group"}
}

// sameGoName reports versions of one group that disagree on the group's name in Go.
func (r *resolver) sameGoName(first, second *api) {
	a, b := first.groupGoName, second.groupGoName
	if a.text == b.text {
		return
	}
	if !b.pos.IsValid() {
		first, second, a, b = second, first, b, a
	}
	message := fmt.Sprintf("group %s is %s in Go for package %s (%s): %s", first.group.text, a.text, first.pkg.Path,
		r.short(cmp.Or(a.pos, first.group.pos)), first.advice("the same marker there", "groupGoName: "+b.text))
	r.report.Add(diag.Diagnostic{Pos: b.pos, Marker: "+groupGoName", Message: message})
}

// where names a package and the place that its group comes from.
func (r *resolver) where(a *api) string {
	return "package " + a.pkg.Path + " at " + r.short(a.group.pos)
}

// factoryMethods are the methods that every factory has.
var factoryMethods = []string{"Base", "ForResource", "Shutdown", "SharedInformerFactory", "Start", "WaitForCacheSync"}

// differentGoNames reports groups that would meet in Go, each other or what every factory has.
// Groups with folders of their own have interfaces of their own in the factory's package, too, for
// the folder is the Go name in lower case.
func (r *resolver) differentGoNames(groups []*model.Group, first map[string]*api) {
	taken := map[string]*model.Group{}
	for _, group := range groups {
		if slices.Contains(factoryMethods, group.GoName) {
			at, name := first[group.Name].group, "+groupName"
			if goName := first[group.Name].groupGoName; goName.pos.IsValid() {
				at, name = goName, "+groupGoName"
			}
			r.report.Add(diag.Diagnostic{
				Pos: at.pos, Marker: name,
				Message: fmt.Sprintf("group %q can't be called %s in Go, because every factory has a method of this name: %s",
					group.Name, group.GoName, first[group.Name].adviseGoName()),
			})
		}
		other := taken[group.Package]
		if other == nil {
			taken[group.Package] = group
			continue
		}
		r.report.Add(diag.Diagnostic{
			Pos: first[group.Name].group.pos, Marker: "+groupName",
			Message: fmt.Sprintf("groups %q (%s) and %q (package %s) would both be called %s in Go: %s",
				other.Name, r.where(first[other.Name]), group.Name, first[group.Name].pkg.Path, group.GoName, first[group.Name].adviseGoName()),
		})
	}
}

// importable reports API packages that the generated ones can't import.
func (r *resolver) importable(a *api) {
	pos := a.firstKind()
	switch {
	case a.pkg.Name == "main":
		r.failAt(pos, "package "+a.pkg.Path+" is a program, which no other package can import: move its API types into a package of their own")
	case !canImport(r.importPath, a.pkg.Path):
		r.failAt(pos, "package "+a.pkg.Path+" is internal, and the output "+r.importPath+" isn't allowed to import it: choose another --output")
	}
}

// canImport reports whether Go's rule for internal packages lets the package at path from import
// the one at path to.
func canImport(from, to string) bool {
	i := strings.LastIndex("/"+to+"/", "/internal/")
	if i < 0 {
		return true
	}
	parent := strings.TrimSuffix(to[:i], "/")
	return parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

// valuePos is the position of v, or of the marker if v is empty.
func valuePos(v marker.Value, at marker.At) token.Position {
	if v.IsSet() {
		return v.Pos
	}
	return at.Pos
}

// short is a position to be named inside of a message, as those in front of messages but without
// the column.
func (r *resolver) short(pos token.Position) string {
	return fmt.Sprintf("%s:%d", filepath.ToSlash(diag.ShortPath(r.dir, pos.Filename)), pos.Line)
}
