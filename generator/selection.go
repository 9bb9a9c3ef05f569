// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/marker/kubebuilder"
)

// selection is the answer to whether something is to be generated for a type, before anything is
// known about what the type is made of.
type selection struct {
	yes bool
	// client means that +genclient, or the config file, asks for the type by name, so that a type
	// which can't be generated for is an error.
	client bool
	// reason says why, or why not.
	reason string
	// at is what the reason speaks of; not set if it is the absence of something.
	at marker.At
	// advice says what would select the type; empty if something takes it out.
	advice string
}

// selects reports whether something is to be generated for any type of the package.
func (a *api) selects() bool { return slices.ContainsFunc(a.declared, (*declared).candidate) }

// candidate reports whether something is to be generated for the type.
func (d *declared) candidate() bool { return d.selection.yes }

// root reports whether kubebuilder's markers select the type.
func (d *declared) root() bool {
	m := marker.First[kubebuilder.ObjectRoot](d.markers)
	return m != nil && m.Root.Text != "false"
}

// kindMarked reports whether a marker in a comment says that the type is a kind, or that it is
// none.
func (d *declared) kindMarked() bool {
	return marker.First[marker.Genclient](d.markers) != nil || marker.First[kubebuilder.ObjectRoot](d.markers) != nil
}

// selectTypes decides which types of a package something is generated for, as far as that can be
// seen without knowing what they are made of. What stands nearest to a type counts most: what the
// config file says about the type, markers above the type, then markers of the package.
func (r *resolver) selectTypes(a *api) {
	out := r.optOut(a)
	marked := slices.ContainsFunc(a.declared, (*declared).kindMarked)
	for _, d := range a.declared {
		d.selection = r.selection(a, d, out, !marked && a.discover)
		if !d.selection.yes {
			r.unused(d)
		}
	}
}

// optOut returns the marker that takes a package's types out, or nil, and reports those that
// contradict it.
func (r *resolver) optOut(a *api) *marker.InformerGen {
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
		r.fail(in.At, in.Value.Pos, "contradicts +k8s:informer-gen=false at "+r.short(out.Pos), nil)
	}
	for _, m := range marker.All[marker.ListerGen](a.markers) {
		if m.Value.Text == "false" && out == nil {
			r.report.Add(diag.Diagnostic{
				Pos: m.Pos, Marker: m.Name, Warning: true,
				Message: "does nothing of its own, because an informer has its lister: +k8s:informer-gen=false turns both off",
			})
		}
	}
	return out
}

// aboveType reports a marker that would take the whole package out and stands above a type, where
// the tools that it belongs to don't read it.
func (r *resolver) aboveType(d *declared, m marker.Marker) {
	r.report.Add(diag.Diagnostic{
		Pos: m.Where().Pos, Marker: m.Where().Name, Warning: true,
		Message: "does nothing above type " + d.spec.Name.Name + ", because it is about the whole package: write +informer:generate=false to leave out the type, or move it to a comment that belongs to no type",
	})
}

func (r *resolver) selection(a *api, d *declared, out *marker.InformerGen, discover bool) selection {
	explicit := r.generate(d)
	client := marker.First[marker.Genclient](d.markers)
	root := r.objectRoot(d)
	skip := marker.First[kubebuilder.Skip](a.markers)
	skipVersion := marker.First[kubebuilder.SkipVersion](d.markers)
	no := func(at marker.At, reason string) selection { return selection{reason: reason, at: at} }
	switch {
	case explicit != nil && explicit.Value.Text == "false":
		return no(explicit.At, written(explicit.At, "false")+" takes it out")
	case d.excluded.text != "":
		return no(marker.At{Name: d.excluded.from, Pos: d.excluded.pos}, d.excluded.text)
	case explicit != nil:
		return selection{yes: true, client: true, reason: written(explicit.At, "true") + " selects it", at: explicit.At}
	case out != nil:
		return no(out.At, "+k8s:informer-gen=false takes the package's types out")
	case client != nil:
		return selection{yes: true, client: true, reason: "+genclient selects it", at: client.At}
	case root != nil && !d.root():
		return no(root.At, "+kubebuilder:object:root=false says that it is no kind")
	case root != nil || discover && r.embeds(a, d, "TypeMeta") && r.embeds(a, d, "ObjectMeta"):
		switch {
		case skip != nil:
			return no(skip.At, "+kubebuilder:skip takes the package's types out")
		case skipVersion != nil:
			return no(skipVersion.At, "+kubebuilder:skipversion takes it out")
		case root != nil:
			return selection{yes: true, reason: "+kubebuilder:object:root=true selects it", at: root.At}
		}
		return selection{yes: true, reason: "it has metav1.TypeMeta and metav1.ObjectMeta, no type of its package is marked, and discover is on"}
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

// generate returns what says outright whether something is generated for the type, or nil, and
// reports contradictions.
func (r *resolver) generate(d *declared) *marker.Generate {
	var first *marker.Generate
	for _, m := range marker.All[marker.Generate](d.markers) {
		switch {
		case first == nil:
			first = m
		case m.Value.Text != first.Value.Text:
			r.fail(m.At, m.Value.Pos, "contradicts "+written(first.At, first.Value.Text)+" at "+r.short(first.Pos), nil)
		}
	}
	return first
}

// objectRoot returns the first marker about whether the type is a root, or nil, and reports
// contradictions.
func (r *resolver) objectRoot(d *declared) *kubebuilder.ObjectRoot {
	first := marker.First[kubebuilder.ObjectRoot](d.markers)
	for _, m := range marker.All[kubebuilder.ObjectRoot](d.markers) {
		if (m.Root.Text == "false") != (first.Root.Text == "false") {
			r.fail(m.At, valuePos(m.Root, m.At), "contradicts "+first.Name+" at "+r.short(first.Pos), nil)
		}
	}
	return first
}

// written is a marker with its value as it stands in the comment or in the config file.
func written(at marker.At, value string) string {
	if at.InFile() {
		return at.Name + ": " + value
	}
	return at.Name + "=" + value
}

// unused reports markers that do nothing because the type isn't selected.
func (r *resolver) unused(d *declared) {
	if d.incomplete {
		return // the marker that selects the type may be among the wrong ones
	}
	s, name := d.selection, d.spec.Name.Name
	for _, at := range d.listed {
		why := s.advice
		if why == "" {
			why = s.reason + r.at(s)
		}
		r.fail(at, at.Pos, "nothing is generated for type "+name+": "+why, nil)
	}
	for _, m := range d.markers {
		at := m.Where()
		if _, ok := m.(*marker.Generate); ok {
			continue
		}
		switch {
		case at.InFile() && s.advice != "":
			r.fail(at, at.Pos, "nothing is generated for type "+name+": mark it, or add generate: true here", nil)
		case at.InFile():
			r.fail(at, at.Pos, "nothing is generated for type "+name+": "+s.reason+r.at(s), nil)
		case strings.HasPrefix(at.Name, "+informer:") && s.advice != "":
			r.fail(at, at.Pos, "nothing is generated for type "+name+": "+s.advice, nil)
		case strings.HasPrefix(at.Name, "+informer:") && !s.at.InFile():
			r.fail(at, at.Pos, "nothing is generated for type "+name+": "+s.reason, nil)
		case strings.HasPrefix(at.Name, "+genclient:") && s.advice != "":
			r.report.Add(diag.Diagnostic{
				Pos: at.Pos, Marker: at.Name, Warning: true,
				Message: "does nothing without +genclient above type " + name,
			})
		}
	}
}

// at is where the reason of s stands, for the end of a message.
func (r *resolver) at(s selection) string {
	if !s.at.Pos.IsValid() {
		return ""
	}
	return " (" + r.short(s.at.Pos) + ")"
}

// useless reports what is said about a type that is selected and for which nothing is generated all
// the same. Of markers in comments, those count that no other tool reads.
func (r *resolver) useless(d *declared, why string) {
	places := slices.Clone(d.listed)
	for _, m := range d.markers {
		switch m.(type) {
		case *marker.Generate: // is reported as a contradiction
		case *marker.Index, *marker.Plural:
			places = append(places, m.Where())
		default:
			if m.Where().InFile() {
				places = append(places, m.Where())
			}
		}
	}
	for _, at := range places {
		r.fail(at, at.Pos, "nothing is generated for type "+d.spec.Name.Name+": "+why, nil)
	}
}

// notServed says why there is nothing to list and watch, and where that stands; the reason is empty
// if there is.
func (r *resolver) notServed(d *declared) (reason string, at marker.At) {
	if m := marker.First[kubebuilder.UnservedVersion](d.markers); m != nil {
		return "+kubebuilder:unservedversion says that the API server doesn't serve it", m.At
	}
	verbs, at := r.verbs(d)
	for _, verb := range []string{"list", "watch"} {
		if !slices.Contains(verbs, verb) {
			return "the API server doesn't offer the verb " + verb + " for it", at
		}
	}
	return "", marker.At{}
}

// verbs returns what the API server offers for a type, as far as informers are concerned, and the
// first marker that says something about it.
func (r *resolver) verbs(d *declared) ([]string, marker.At) {
	only, skip := marker.All[marker.OnlyVerbs](d.markers), marker.All[marker.SkipVerbs](d.markers)
	readOnly, none := marker.First[marker.ReadOnly](d.markers), marker.First[marker.NoVerbs](d.markers)
	switch {
	case none != nil:
		for _, m := range d.markers {
			switch m.(type) {
			case *marker.OnlyVerbs, *marker.SkipVerbs, *marker.ReadOnly:
				r.fail(m.Where(), m.Where().Pos, "contradicts +genclient:noVerbs at "+r.short(none.Pos), nil)
			}
		}
		return nil, none.At
	case len(only) > 0 && len(skip) > 0:
		r.fail(skip[0].At, skip[0].Pos, "contradicts +genclient:onlyVerbs at "+r.short(only[0].Pos)+": one of them says it all", nil)
	case readOnly != nil && len(skip) > 0:
		r.fail(skip[0].At, skip[0].Pos, "contradicts +genclient:readonly at "+r.short(readOnly.Pos)+": one of them says it all", nil)
	}
	var at marker.At
	verbs := []string{"get", "list", "watch"}
	if len(only) > 0 && readOnly == nil {
		verbs, at = nil, only[0].At
	}
	for _, m := range only {
		for _, v := range m.Verbs {
			verbs = append(verbs, v.Text)
		}
	}
	for _, m := range skip {
		at = m.At
		for _, v := range m.Verbs {
			verbs = slices.DeleteFunc(verbs, func(verb string) bool { return verb == v.Text })
		}
	}
	return verbs, at
}

// embeds says by the syntax alone whether the type embeds the struct of that name from metav1. It
// can't see through aliases, which types tell.
func (r *resolver) embeds(a *api, d *declared, name string) bool {
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
			if id, ok := t.X.(*ast.Ident); ok && t.Sel.Name == name && importedAs(d.file, id.Name, "v1") == metaPath {
				return true
			}
		case *ast.Ident:
			if t.Name == name && (a.pkg.Path == metaPath || importedAs(d.file, ".", "") == metaPath) {
				return true
			}
		}
	}
	return false
}

// importedAs returns the path of the import that file calls by a name, or "". usual is the name of
// a package that an import gives no name to.
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
