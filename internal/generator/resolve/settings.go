// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/config"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// configure adds the configuration file's settings of a package as equivalent markers.
func configure(r *report.Report, in Input, a *api) {
	a.discover = in.Discover
	pkg := settingsOf(in.File, a.pkg)
	if pkg == nil {
		return
	}
	if pkg.Discover.IsSet() {
		a.discover = config.True(pkg.Discover)
		warnDiscover(r, a, pkg.Discover)
	}
	a.markers = append(a.markers, pkg.Markers()...)
	types := map[string]*typeDecl{}
	var names []string
	for _, d := range a.decls {
		types[d.spec.Name.Name] = d
		if d.spec.Name.IsExported() {
			names = append(names, d.spec.Name.Name)
		}
	}
	missing := func(v marker.Value, key string) {
		r.Add(diag.Diagnostic{Pos: v.Pos, Marker: key, Message: "package " + a.pkg.Path + " has no type " + v.Text + diag.DidYouMean(v.Text, names)})
	}
	for _, kind := range pkg.Kinds {
		d, markers := types[kind.Name.Text], kind.Markers()
		switch {
		case d == nil:
			missing(kind.Name, "name")
		case len(markers) == 0:
			d.listed = append(d.listed, marker.At{Name: "name", Pos: kind.Name.Pos})
		default:
			d.markers = append(d.markers, markers...)
		}
	}
	if len(pkg.Only) == 0 {
		return
	}
	for _, v := range pkg.Only {
		if d := types[v.Text]; d != nil {
			d.listed = append(d.listed, marker.At{Name: "only", Pos: v.Pos})
		} else {
			missing(v, "only")
		}
	}
	for _, d := range a.decls {
		if !slices.Contains(config.Texts(pkg.Only), d.spec.Name.Name) {
			d.excluded = Fact{Text: "only leaves it out", Pos: pkg.Only[0].Pos, From: "only"}
		}
	}
}

// warnDiscover warns about discovery in a package with marked types.
func warnDiscover(r *report.Report, a *api, discover marker.Value) {
	i := slices.IndexFunc(a.decls, (*typeDecl).kindMarked)
	if i < 0 || !config.True(discover) {
		return
	}
	r.Add(diag.Diagnostic{Pos: discover.Pos, Marker: "discover", Warning: true,
		Message: "has no effect, because types of the package are marked, such as " + a.decls[i].spec.Name.Name + " at " +
			r.Short(r.Position(a.decls[i].spec.Name.Pos())) + ": set generate: true for the missing ones"})
}

func settingsOf(file *config.File, pkg *load.Package) *config.Package {
	if file == nil {
		return nil
	}
	for _, p := range file.Packages {
		if isSettingsOf(file, p, pkg) {
			return p
		}
	}
	return nil
}

func isSettingsOf(file *config.File, p *config.Package, pkg *load.Package) bool {
	if !strings.HasPrefix(p.Path.Text, ".") {
		return p.Path.Text == pkg.Path
	}
	return filepath.Join(filepath.Dir(file.Name), filepath.FromSlash(p.Path.Text)) == pkg.Dir
}

// reportUnread reports settings of packages that aren't loaded, and repeated settings of one
// package.
func reportUnread(r *report.Report, in Input) {
	file, roots := in.File, in.Roots
	if file == nil {
		return
	}
	for i, p := range file.Packages {
		var read []string
		found := false
		for _, root := range roots {
			found = found || isSettingsOf(file, p, root)
			read = append(read, root.Path)
		}
		if !found && in.Partial {
			continue
		}
		if !found {
			advice := diag.DidYouMean(p.Path.Text, read)
			if advice == "" {
				advice = ": add it to inputs"
			}
			r.Add(diag.Diagnostic{Pos: p.Path.Pos, Marker: "path",
				Message: "package " + p.Path.Text + " isn't among the packages that are read" + advice})
			continue
		}
		for _, other := range file.Packages[:i] {
			for _, root := range roots {
				if isSettingsOf(file, p, root) && isSettingsOf(file, other, root) {
					r.Add(diag.Diagnostic{Pos: p.Path.Pos, Marker: "path",
						Message: "package " + root.Path + " already has settings, at " + r.Short(other.Path.Pos)})
				}
			}
		}
	}
}
