// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"path"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// leaveOutUnversioned excludes packages of internal types, which API servers and conversions use
// but no server serves: packages without a version, directly above or beside a versioned package
// that may have the same group.
func leaveOutUnversioned(r *report.Report, program *load.Program, apis []*api) {
	groups := map[*api]string{}
	versioned := map[*api]bool{}
	for _, a := range apis {
		if a.selects() {
			groups[a], versioned[a] = guessGroup(r, program, a)
		}
	}
	for _, a := range apis {
		i := slices.IndexFunc(apis, func(b *api) bool {
			near := path.Dir(b.pkg.Path) == a.pkg.Path || path.Dir(b.pkg.Path) == path.Dir(a.pkg.Path)
			return versioned[b] && near && (groups[a] == groups[b] || groups[a] == "" || groups[b] == "")
		})
		if !a.selects() || versioned[a] || i < 0 || a.listed() {
			continue
		}
		first := slices.IndexFunc(a.decls, (*typeDecl).candidate)
		reason := "its package has no version, and " + apis[i].pkg.Path + " has one"
		r.WarnAt(r.Position(a.decls[first].file.Name.Pos()),
			"package "+a.pkg.Path+" is left out, because it has no version and "+apis[i].pkg.Path+" has one; to generate for it, "+
				a.advice("// +versionName=NAME in one of its comments; // +k8s:informer-gen=false there silences this warning", "versionName: NAME"))
		for _, d := range a.decls {
			if d.candidate() {
				d.selection = selection{reason: reason, advice: a.advice("// +versionName=NAME in a comment of the package", "versionName: NAME")}
			}
		}
	}
}

// listed reports whether the configuration file names a kind of the package.
func (a *api) listed() bool {
	return slices.ContainsFunc(a.decls, func(d *typeDecl) bool {
		return d.candidate() && (len(d.listed) > 0 || d.selection.at.InFile())
	})
}

// guessGroup returns the declared group of a package, or "", and whether it has a version. It
// reports nothing.
func guessGroup(r *report.Report, program *load.Program, a *api) (group string, versioned bool) {
	inScheme := registeredIn(r.Fork(), program, a)
	group = inScheme.group.Text
	if m := marker.First[marker.GroupName](a.markers); m != nil {
		group = m.Name.Text
	}
	switch version := inScheme.version; {
	case marker.First[marker.VersionName](a.markers) != nil:
		return group, true
	case version.Pos.IsValid():
		return group, version.Text != runtime.APIVersionInternal && version.Text != "unversioned"
	}
	return group, names.LooksLikeVersion(a.pkg.Name) || names.LooksLikeVersion(filepath.Base(a.pkg.Dir))
}
