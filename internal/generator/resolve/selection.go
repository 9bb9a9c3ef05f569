// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// selection decides whether to generate for a type, before its Go type is known.
type selection struct {
	selected bool
	// required means that +genclient or the config file asks for the type by name, so a type
	// without generated code is an error.
	required bool
	// reason explains yes.
	reason string
	// at is the marker named in reason; not set if the reason is a missing one.
	at marker.At
	// advice tells how to select the type; empty if a setting excludes it.
	advice string
}

func (a *api) selects() bool { return slices.ContainsFunc(a.decls, (*typeDecl).candidate) }

func (d *typeDecl) candidate() bool { return d.selection.selected }

func (d *typeDecl) root() bool {
	m := marker.First[kubebuilder.ObjectRoot](d.markers)
	return m != nil && m.Root.Text != "false"
}

// kindMarked reports whether a comment's marker declares the type a kind, or no kind.
func (d *typeDecl) kindMarked() bool {
	return marker.First[marker.Genclient](d.markers) != nil || marker.First[kubebuilder.ObjectRoot](d.markers) != nil
}

// selectTypes selects types of a package by markers and syntax, before type-checking. The nearest
// setting wins: the config file's for the type, then markers above the type, then markers of the
// package.
func selectTypes(r *report.Report, a *api) {
	out := optOut(r, a)
	marked := slices.ContainsFunc(a.decls, (*typeDecl).kindMarked)
	for _, d := range a.decls {
		d.selection = decideSelection(r, a, d, out, !marked && a.discover)
		if !d.selection.selected {
			reportNotSelected(r, d)
		}
	}
}

// optOut returns the marker that excludes a package's types, or nil, and reports contradictions.
func optOut(r *report.Report, a *api) *marker.InformerGen {
	var out, in *marker.InformerGen
	for _, m := range marker.All[marker.InformerGen](a.markers) {
		switch {
		case m.Value.Text == "false" && out == nil:
			out = m
		case m.Value.Text == "true" && in == nil:
			in = m
		}
	}
	if out != nil && in != nil {
		r.Fail(in.At, in.Value.Pos, "contradicts +k8s:informer-gen=false at "+r.Short(out.Pos))
	}
	for _, m := range marker.All[marker.ListerGen](a.markers) {
		if m.Value.Text == "false" && out == nil {
			r.Add(diag.Diagnostic{
				Pos: m.Pos, Marker: m.Name, Warning: true,
				Message: "has no effect of its own, because an informer has its lister: +k8s:informer-gen=false turns both off",
			})
		}
	}
	return out
}

// warnAboveType reports a package marker above a type, where its tools don't read it.
func warnAboveType(r *report.Report, d *typeDecl, m marker.Marker) {
	r.Add(diag.Diagnostic{
		Pos: m.Where().Pos, Marker: m.Where().Name, Warning: true,
		Message: "has no effect above type " + d.spec.Name.Name + ", because it applies to the whole package: write +informer:generate=false to exclude the type, or move it to a comment that belongs to no type",
	})
}

// decideSelection decides about one type. out is the marker that excludes its package, or nil.
func decideSelection(r *report.Report, a *api, d *typeDecl, out *marker.InformerGen, discover bool) selection {
	explicit := askedFor(r, d)
	client := marker.First[marker.Genclient](d.markers)
	root := objectRoot(r, d)
	skip := marker.First[kubebuilder.Skip](a.markers)
	skipVersion := marker.First[kubebuilder.SkipVersion](d.markers)
	no := func(at marker.At, reason string) selection { return selection{reason: reason, at: at} }
	switch {
	case explicit != nil && explicit.Value.Text == "false":
		return no(explicit.At, written(explicit.At, "false")+" excludes it")
	case d.excluded.Text != "":
		return no(marker.At{Name: d.excluded.From, Pos: d.excluded.Pos}, d.excluded.Text)
	case explicit != nil:
		return selection{selected: true, required: true, reason: written(explicit.At, "true") + " selects it", at: explicit.At}
	case out != nil:
		return no(out.At, "+k8s:informer-gen=false excludes the package's types")
	case client != nil:
		return selection{selected: true, required: true, reason: "+genclient selects it", at: client.At}
	case root != nil && !d.root():
		return no(root.At, "+kubebuilder:object:root=false says that it isn't a kind")
	case root != nil || discover && embeds(a, d, "TypeMeta") && embeds(a, d, "ObjectMeta"):
		switch {
		case skip != nil:
			return no(skip.At, "+kubebuilder:skip excludes the package's types")
		case skipVersion != nil:
			return no(skipVersion.At, "+kubebuilder:skipversion excludes it")
		case root != nil:
			return selection{selected: true, reason: "+kubebuilder:object:root=true selects it", at: root.At}
		}
		return selection{selected: true, reason: "it has metav1.TypeMeta and metav1.ObjectMeta, no type of its package is marked, and discover is on"}
	}
	none := selection{reason: "nothing selects it", advice: "add +genclient (or +kubebuilder:object:root=true) above it"}
	if !a.pkg.Main() {
		none.advice = "give it generate: true in informer-gen.yaml"
	}
	if discover {
		none.reason = "it doesn't have both metav1.TypeMeta and metav1.ObjectMeta"
	}
	return none
}

// askedFor returns the explicit setting for the type, or nil, and reports contradictions.
func askedFor(r *report.Report, d *typeDecl) *marker.Generate {
	var first *marker.Generate
	for _, m := range marker.All[marker.Generate](d.markers) {
		switch {
		case first == nil:
			first = m
		case m.Value.Text != first.Value.Text:
			r.Fail(m.At, m.Value.Pos, "contradicts "+written(first.At, first.Value.Text)+" at "+r.Short(first.Pos))
		}
	}
	return first
}

// objectRoot returns the first marker that makes the type a root or not, or nil, and reports
// contradictions.
func objectRoot(r *report.Report, d *typeDecl) *kubebuilder.ObjectRoot {
	first := marker.First[kubebuilder.ObjectRoot](d.markers)
	for _, m := range marker.All[kubebuilder.ObjectRoot](d.markers) {
		if (m.Root.Text == "false") != (first.Root.Text == "false") {
			r.Fail(m.At, valuePos(m.Root, m.At), "contradicts "+first.Name+" at "+r.Short(first.Pos))
		}
	}
	return first
}

// written returns a marker and its value in the syntax of its source.
func written(at marker.At, value string) string {
	if at.InFile() {
		return at.Name + ": " + value
	}
	return at.Name + "=" + value
}

// whereReason returns the place of s.reason for the end of a message.
func whereReason(r *report.Report, s selection) string {
	if !s.at.Pos.IsValid() {
		return ""
	}
	return " (" + r.Short(s.at.Pos) + ")"
}

// embeds reports, from syntax alone, whether the type embeds the metav1 struct called name. It
// doesn't see through aliases.
func embeds(a *api, d *typeDecl, name string) bool {
	s, ok := d.spec.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range s.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		switch t := field.Type.(type) {
		case *ast.SelectorExpr:
			if id, ok := t.X.(*ast.Ident); ok && t.Sel.Name == name && importedAs(d.file, id.Name, "v1") == gotypes.MetaPath {
				return true
			}
		case *ast.Ident:
			if t.Name == name && (a.pkg.Path == gotypes.MetaPath || importedAs(d.file, ".", "") == gotypes.MetaPath) {
				return true
			}
		}
	}
	return false
}

// importedAs returns the path that file imports under name, or "". An import without a name of its
// own counts if name is usual and the last element of its path.
func importedAs(file *ast.File, name, usual string) string {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && name == usual && path[strings.LastIndexByte(path, '/')+1:] == usual {
			return path
		}
	}
	return ""
}
