// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// Scopes, spelled as in a CustomResourceDefinition.
const (
	namespaced = "Namespaced"
	cluster    = "Cluster"
)

var pluralExceptions = map[string]string{"Endpoints": "Endpoints"}

type markerValue struct {
	at    marker.At
	value marker.Value
	// words are the value's name in messages.
	words string
}

// agreedValue returns the first of the values, and reports others that differ.
func agreedValue(r *report.Report, all []markerValue) (markerValue, bool) {
	if len(all) == 0 {
		return markerValue{}, false
	}
	first := all[0]
	for _, s := range all[1:] {
		if s.value.Text != first.value.Text {
			r.Fail(s.at, valuePos(s.value, s.at), s.words+" contradicts "+first.words+" of "+first.at.Name+" at "+r.Short(first.at.Pos))
		}
	}
	return first, true
}

func scopeOf(r *report.Report, d *typeDecl) Fact {
	var all []markerValue
	for _, m := range d.markers {
		switch m := m.(type) {
		case *marker.NonNamespaced:
			all = append(all, markerValue{m.At, marker.Value{Text: cluster}, "scope " + cluster})
		case *kubebuilder.Resource:
			if m.Scope.IsSet() {
				all = append(all, markerValue{m.At, m.Scope, "scope " + m.Scope.Text})
			}
		}
	}
	if s, ok := agreedValue(r, all); ok {
		return Fact{s.value.Text, s.at.Name, s.at.Pos}
	}
	return Fact{Text: namespaced, From: "no marker says Cluster"}
}

func pluralOf(r *report.Report, in Input, d *typeDecl) Fact {
	name := d.spec.Name.Name
	var all []markerValue
	for _, m := range marker.All[marker.Plural](d.markers) {
		if !names.IsExported(m.Name.Text) {
			r.Fail(m.At, m.Name.Pos, fmt.Sprintf("%q isn't an exported Go name%s", m.Name.Text, names.SuggestExported(m.Name.Text)))
			continue
		}
		all = append(all, markerValue{m.At, m.Name, "plural " + m.Name.Text})
	}
	if s, ok := agreedValue(r, all); ok {
		return Fact{s.value.Text, s.at.Name, s.at.Pos}
	}
	if exception, ok := in.Plurals[name]; ok {
		return exception
	}
	if _, ok := pluralExceptions[name]; ok {
		return Fact{Text: pluralExceptions[name], From: "an exception from the rules of code-generator"}
	}
	return Fact{Text: pluralByRule(name), From: ruleOfGengo}
}

// warnUnusedPlurals warns about exceptions for missing kinds. A partial run can't judge those of
// the configuration file.
func warnUnusedPlurals(r *report.Report, in Input, apis []*api) {
	var kinds []string
	for _, a := range apis {
		for _, k := range a.kinds {
			kinds = append(kinds, k.Name)
		}
	}
	for kind, plural := range in.Plurals { // findings are sorted later
		if slices.Contains(kinds, kind) || in.Partial && plural.Pos.IsValid() {
			continue
		}
		d := diag.Diagnostic{Pos: plural.Pos, Marker: plural.From, Warning: true}
		d.Message = "nothing is generated for a kind " + kind + ", so its plural " + plural.Text + " has no effect" + diag.DidYouMean(kind, kinds)
		r.Add(d)
	}
}

const (
	ruleOfGengo  = "the rules of code-generator"
	ruleOfFlect  = "the rules of controller-gen"
	lowerCaseOf  = "its plural "
	notAResource = "isn't a resource name: use lower-case letters, digits and - between them"
)

// pluralByRule returns a kind's plural by code-generator's rules: Policies for Policy.
func pluralByRule(kind string) string {
	return namer.NewPublicPluralNamer(pluralExceptions).Name(&types.Type{Name: types.Name{Name: kind}})
}

// resourceOf decides the plural in URLs. Without a marker for it, it is the Go plural in lower case
// if a setting gives that plural, or if client-gen but not controller-gen handles the type.
// Otherwise it is the plural that controller-gen would write into the CustomResourceDefinition.
func resourceOf(r *report.Report, d *typeDecl, plural Fact) Fact {
	var all []markerValue
	for _, m := range d.markers {
		switch m := m.(type) {
		case *marker.ResourceName:
			all = append(all, markerValue{m.At, m.Name, fmt.Sprintf("resource %q", m.Name.Text)})
		case *kubebuilder.Resource:
			if m.Path.IsSet() {
				all = append(all, markerValue{m.At, m.Path, fmt.Sprintf("resource %q", m.Path.Text)})
			}
		}
	}
	if s, ok := agreedValue(r, all); ok {
		if !names.IsResource(s.value.Text) {
			r.Fail(s.at, s.value.Pos, fmt.Sprintf("%q %s", s.value.Text, notAResource))
		}
		return Fact{s.value.Text, s.at.Name, s.at.Pos}
	}
	byGengo := Fact{strings.ToLower(plural.Text), lowerCaseOf + plural.Text, plural.Pos}
	if plural.From != ruleOfGengo {
		return byGengo
	}
	if marker.First[marker.Genclient](d.markers) != nil && d.controllerGen() == nil {
		return byGengo
	}
	return Fact{Text: strings.ToLower(flect.Pluralize(d.spec.Name.Name)), From: ruleOfFlect}
}

// controllerGen returns the marker that makes controller-gen write a CustomResourceDefinition for
// the type, or nil.
func (d *typeDecl) controllerGen() marker.Marker {
	for _, m := range d.markers {
		switch m := m.(type) {
		case *kubebuilder.ObjectRoot:
			if d.root() {
				return m
			}
		case *kubebuilder.Resource:
			if !m.InFile() {
				return m
			}
		}
	}
	return nil
}
