// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func (a *api) adviseGoName() string {
	return a.advice("+groupGoName=NAME in a comment of package "+a.pkg.Path, "groupGoName: NAME")
}

// goNameOf returns the group's name in Go; its position is valid if a marker sets it.
func goNameOf(r *report.Report, a *api) Fact {
	markers := marker.All[marker.GroupGoName](a.markers)
	for _, m := range markers {
		if m.Name.Text != markers[0].Name.Text {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("the group's Go name is %q at %s and %q here",
				markers[0].Name.Text, r.Short(markers[0].Pos), m.Name.Text))
		}
	}
	if len(markers) > 0 {
		m := markers[0]
		if !names.IsExported(m.Name.Text) {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("%q isn't an exported Go name%s", m.Name.Text, names.SuggestExported(m.Name.Text)))
		}
		return Fact{m.Name.Text, m.At.Name, m.Pos}
	}
	if a.group.Text == "" {
		return Fact{Text: "Core", From: "the name of the core group"}
	}
	first, _, _ := strings.Cut(a.group.Text, ".")
	var goName strings.Builder
	for word := range strings.SplitSeq(first, "-") {
		goName.WriteString(names.UpperFirst(word))
	}
	if !token.IsIdentifier(goName.String()) {
		r.Add(diag.Diagnostic{
			Pos: a.group.Pos, Marker: "+groupName",
			Message: fmt.Sprintf("group %q has no default name in Go: %s", a.group.Text, a.adviseGoName()),
		})
	}
	return Fact{Text: goName.String(), From: "the first part of the group"}
}

func checkSameGoName(r *report.Report, first, second *api) {
	a, b := first.groupGoName, second.groupGoName
	if a.Text == b.Text {
		return
	}
	if !b.Pos.IsValid() {
		first, second, a, b = second, first, b, a
	}
	message := fmt.Sprintf("group %s is %s in Go for package %s (%s): %s", first.group.Text, a.Text, first.pkg.Path,
		r.Short(cmp.Or(a.Pos, first.group.Pos)), first.advice("the same marker there", "groupGoName: "+b.Text))
	r.Add(diag.Diagnostic{Pos: b.Pos, Marker: "+groupGoName", Message: message})
}

func where(r *report.Report, a *api) string {
	return "package " + a.pkg.Path + " at " + r.Short(a.group.Pos)
}

var factoryMethods = []string{"Base", "ForResource", "Shutdown", "SharedInformerFactory", "Start", "WaitForCacheSync"}

// checkGoNames reports groups whose Go names clash with each other or with a factory's methods.
// It compares folders, which are the Go names in lower case; groups in different folders also have
// different interfaces in the factory's package.
func checkGoNames(r *report.Report, groups []*model.Group, first map[string]*api) {
	taken := map[string]*model.Group{}
	for _, group := range groups {
		if slices.Contains(factoryMethods, group.GoName) {
			at, name := first[group.Name].group, "+groupName"
			if goName := first[group.Name].groupGoName; goName.Pos.IsValid() {
				at, name = goName, "+groupGoName"
			}
			r.Add(diag.Diagnostic{
				Pos: at.Pos, Marker: name,
				Message: fmt.Sprintf("group %q can't be called %s in Go, because every factory has a method of this name: %s",
					group.Name, group.GoName, first[group.Name].adviseGoName()),
			})
		}
		other := taken[group.Package]
		if other == nil {
			taken[group.Package] = group
			continue
		}
		r.Add(diag.Diagnostic{
			Pos: first[group.Name].group.Pos, Marker: "+groupName",
			Message: fmt.Sprintf("groups %q (%s) and %q (package %s) would both be called %s in Go: %s",
				other.Name, where(r, first[other.Name]), group.Name, first[group.Name].pkg.Path, group.GoName, first[group.Name].adviseGoName()),
		})
	}
}
