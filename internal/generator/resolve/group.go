// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"go/token"
	"path/filepath"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/index"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// groupVersion decides the group, its Go name and the version of a package. An undecided group has
// no position.
func groupVersion(r *report.Report, program *load.Program, a *api) {
	clause := r.Position(a.pkg.Files[0].Name.Pos())
	if first := a.firstKind(); first.IsValid() {
		for _, file := range a.pkg.Files {
			if r.Position(file.Name.Pos()).Filename == first.Filename {
				clause = r.Position(file.Name.Pos())
			}
		}
	}
	inScheme := registeredIn(r, program, a)
	a.version = versionOf(r, a, inScheme, clause)
	a.group = groupOf(r, a, inScheme, clause)
	a.groupGoName = goNameOf(r, a)
}

func (a *api) firstKind() token.Position {
	if len(a.kinds) == 0 {
		return token.Position{}
	}
	return a.kinds[0].pos
}

func groupOf(r *report.Report, a *api, inScheme registered, clause token.Position) Fact {
	markers := marker.All[marker.GroupName](a.markers)
	if len(markers) == 0 && inScheme.group.Pos.IsValid() {
		if group := inScheme.group; !names.IsGroup(group.Text) {
			r.FailAt(group.Pos, fmt.Sprintf("%q of %s %s", group.Text, group.From, notAGroup))
			return Fact{}
		}
		return inScheme.group
	}
	if len(markers) == 0 {
		r.Add(diag.Diagnostic{
			Pos: clause, Marker: "+groupName",
			Message: "package " + a.pkg.Path + " has API types but no API group: " +
				a.advice("// +groupName=NAME in a comment of any of its files", "groupName: NAME"),
		})
		return Fact{}
	}
	first := markers[0]
	for _, m := range markers[1:] {
		if m.Name.Text != first.Name.Text {
			r.Fail(m.At, valuePos(m.Name, m.At), fmt.Sprintf("the package's group is %q at %s and %q here",
				first.Name.Text, r.Short(first.Pos), m.Name.Text))
			return Fact{}
		}
	}
	if !names.IsGroup(first.Name.Text) {
		r.Fail(first.At, valuePos(first.Name, first.At), fmt.Sprintf("%q %s", first.Name.Text, notAGroup))
		return Fact{}
	}
	if inScheme.group.Pos.IsValid() && inScheme.group.Text != first.Name.Text {
		r.Fail(first.At, valuePos(first.Name, first.At), fmt.Sprintf("group %q contradicts group %q of %s at %s",
			first.Name.Text, inScheme.group.Text, inScheme.name, r.Short(inScheme.group.Pos)))
	}
	return Fact{first.Name.Text, first.At.Name, first.Pos}
}

func versionOf(r *report.Report, a *api, inScheme registered, clause token.Position) Fact {
	markers := marker.All[marker.VersionName](a.markers)
	for _, m := range markers {
		if m.Name.Text != markers[0].Name.Text {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("the package's version is %q at %s and %q here",
				markers[0].Name.Text, r.Short(markers[0].Pos), m.Name.Text))
			return Fact{}
		}
	}
	if len(markers) > 0 {
		m := markers[0]
		if !names.IsVersion(m.Name.Text) {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("%q isn't a version name: use lower-case letters and digits", m.Name.Text))
			return Fact{}
		}
		if inScheme.version.Pos.IsValid() && inScheme.version.Text != m.Name.Text {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("version %q contradicts version %q of %s at %s",
				m.Name.Text, inScheme.version.Text, inScheme.name, r.Short(inScheme.version.Pos)))
		}
		return Fact{m.Name.Text, m.At.Name, m.Pos}
	}
	if inScheme.version.Pos.IsValid() && names.IsVersion(inScheme.version.Text) {
		return inScheme.version
	}
	if names.LooksLikeVersion(a.pkg.Name) {
		return Fact{a.pkg.Name, "the name of the package", clause}
	}
	if folder := filepath.Base(a.pkg.Dir); names.LooksLikeVersion(folder) {
		return Fact{folder, "the name of the package's folder", clause}
	}
	r.Add(diag.Diagnostic{
		Pos: clause, Marker: "+versionName",
		Message: fmt.Sprintf("neither the name of package %s nor its folder is an API version like v1alpha1: %s", a.pkg.Path,
			a.advice("// +versionName=NAME in one of its comments", "versionName: NAME")),
	})
	return Fact{}
}

// advice tells the user to write comment or, for a package of another module, line in the
// configuration file.
func (a *api) advice(comment, line string) string {
	if a.pkg.Main() {
		return "write " + comment
	}
	return "write " + line + " for it in informer-gen.yaml"
}

const notAGroup = "isn't a group name: use lower-case letters, digits, - and dots between them"

func checkImportable(r *report.Report, output index.Output, a *api) {
	pos := a.firstKind()
	switch {
	case a.pkg.Name == "main":
		r.FailAt(pos, "package "+a.pkg.Path+" is a program, which no other package can import: move its API types into a package of their own")
	case !gotypes.CanImport(output.ImportPath, a.pkg.Path):
		r.FailAt(pos, "package "+a.pkg.Path+" is internal, so the output "+output.ImportPath+" can't import it: choose another --output")
	}
}

func valuePos(v marker.Value, at marker.At) token.Position {
	if v.IsSet() {
		return v.Pos
	}
	return at.Pos
}
