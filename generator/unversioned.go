// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"path"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
)

// leaveOutUnversioned takes out the packages of internal types, which API servers and conversions
// work with and no server serves: those without a version that lie right above, or beside, packages
// that have one, and may be of their group.
func (r *resolver) leaveOutUnversioned(apis []*api) {
	groups := map[*api]string{}
	versioned := map[*api]bool{}
	for _, a := range apis {
		if a.selects() {
			groups[a], versioned[a] = r.seemsToBe(a)
		}
	}
	for _, a := range apis {
		i := slices.IndexFunc(apis, func(b *api) bool {
			near := path.Dir(b.pkg.Path) == a.pkg.Path || path.Dir(b.pkg.Path) == path.Dir(a.pkg.Path)
			return versioned[b] && near && (groups[a] == groups[b] || groups[a] == "" || groups[b] == "")
		})
		if !a.selects() || versioned[a] || i < 0 || a.named() {
			continue
		}
		first := slices.IndexFunc(a.declared, (*declared).candidate)
		reason := "its package has no version, and " + apis[i].pkg.Path + " has one"
		r.report.Add(diag.Diagnostic{
			Pos: r.fset.Position(a.declared[first].file.Name.Pos()), Warning: true,
			Message: "package " + a.pkg.Path + " is left out, because it has no version and " + apis[i].pkg.Path + " has one; if it is wanted, " +
				a.advice("// +versionName=NAME in a comment of it, else // +k8s:informer-gen=false, which ends this note", "versionName: NAME"),
		})
		for _, d := range a.declared {
			if d.candidate() {
				d.selection = selection{reason: reason, advice: a.advice("// +versionName=NAME in a comment of the package", "versionName: NAME")}
			}
		}
	}
}

// named reports whether the configuration file names a kind of the package.
func (a *api) named() bool {
	return slices.ContainsFunc(a.declared, func(d *declared) bool {
		return d.candidate() && (len(d.listed) > 0 || d.selection.at.InFile())
	})
}

// seemsToBe returns the group of a package as far as it says one, and whether it has a version, and
// reports nothing.
func (r *resolver) seemsToBe(a *api) (group string, versioned bool) {
	before := len(r.report)
	inScheme := r.registered(a)
	r.report = r.report[:before]
	group = inScheme.group.text
	if m := marker.First[marker.GroupName](a.markers); m != nil {
		group = m.Name.Text
	}
	switch version := inScheme.version; {
	case marker.First[marker.VersionName](a.markers) != nil:
		return group, true
	case version.pos.IsValid():
		return group, version.text != runtime.APIVersionInternal && version.text != "unversioned"
	}
	return group, likeVersion.MatchString(a.pkg.Name) || likeVersion.MatchString(filepath.Base(a.pkg.Dir))
}
