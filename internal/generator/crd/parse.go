// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/yamldoc"
)

const definitionKind = "CustomResourceDefinition"

// parse returns the definitions in a file of any number of YAML documents. It skips documents
// without definitionKind.
func parse(file string, data []byte, report *diag.List) []Definition {
	documents, problem := yamldoc.Documents(file, data)
	if problem != nil {
		report.Add(*problem)
	}
	var definitions []Definition
	for _, document := range documents {
		if !document.Contains(definitionKind) {
			continue
		}
		var top object
		if problem := document.Decode(&top); problem != nil {
			if document.Contains(openTemplate) {
				report.Add(template(document))
				continue
			}
			problem.Message = "invalid YAML: " + problem.Message
			report.Add(*problem)
			continue
		}
		objects, at := []object{top}, []yamldoc.Node{document.Root()}
		if top.Kind == "List" {
			objects, at = top.Items, nil
			for i := range objects {
				at = append(at, document.Root().Get("items").Element(i))
			}
		}
		for i, o := range objects {
			group, _, _ := strings.Cut(o.APIVersion, "/")
			if group != "apiextensions.k8s.io" || o.Kind != definitionKind {
				continue
			}
			c, err := o.definition(at[i])
			switch {
			case err != nil:
				report.Add(diag.Diagnostic{Pos: c.Pos, Message: err.Error()})
			case strings.Contains(c.Group.Text+c.Kind.Text+c.Plural.Text+c.Scope.Text, openTemplate):
				report.Add(template(document))
			case c.Kind.Text != "":
				definitions = append(definitions, c)
			}
		}
	}
	return definitions
}

// openTemplate begins an action of a template, as in helm's charts.
const openTemplate = "{{"

func template(document *yamldoc.Document) diag.Diagnostic {
	return diag.Diagnostic{
		Pos: document.Find(openTemplate), Warning: true,
		Message: "this is a template, so the CustomResourceDefinition is skipped: name the output of helm template, or the folder that controller-gen writes to",
	}
}

type object struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      []object        `json:"items"`
	Spec       json.RawMessage `json:"spec"`
}

// UnmarshalJSON accepts anything but a mapping as an object without a kind.
func (o *object) UnmarshalJSON(data []byte) error {
	type plain object
	if err := json.Unmarshal(data, (*plain)(o)); err != nil {
		*o = object{}
	}
	return nil
}

// definition returns the definition o, located at a node. Without any of the four names it is a
// patch, and has no kind.
func (o object) definition(at yamldoc.Node) (Definition, error) {
	var spec struct {
		Group string `json:"group"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Scope    string `json:"scope"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	}
	c := Definition{Pos: at.Pos()}
	if len(o.Spec) > 0 {
		if err := json.Unmarshal(o.Spec, &spec); err != nil {
			return c, fmt.Errorf("the spec of the CustomResourceDefinition can't be read: %w", err)
		}
	}
	in := at.Get("spec")
	c.Group = Value{Text: spec.Group, Pos: in.Get("group").Pos()}
	c.Kind = Value{Text: spec.Names.Kind, Pos: in.Get("names", "kind").Pos()}
	c.Plural = Value{Text: spec.Names.Plural, Pos: in.Get("names", "plural").Pos()}
	c.Scope = Value{Text: spec.Scope, Pos: in.Get("scope").Pos()}
	for i, v := range spec.Versions {
		c.Versions = append(c.Versions, Version{
			Name:   Value{Text: v.Name, Pos: in.Get("versions").Element(i).Get("name").Pos()},
			Served: v.Served,
		})
	}
	var missing []string
	for _, field := range []struct{ name, text string }{
		{"group", spec.Group}, {"names.kind", spec.Names.Kind}, {"names.plural", spec.Names.Plural}, {"scope", spec.Scope},
	} {
		if field.text == "" {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 && len(missing) < 4 {
		return c, fmt.Errorf("the CustomResourceDefinition has no spec.%s", missing[0])
	}
	return c, nil
}
