// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
)

// crd is what informers need to know of a CustomResourceDefinition, each value with its place.
type crd struct {
	pos                        token.Position
	group, kind, plural, scope named
	versions                   []crdVersion
}

type crdVersion struct {
	name   named
	served bool
}

// readCRDs reads the CustomResourceDefinitions in a file, or in the YAML and JSON files that lie right in a folder, as
// kubectl apply does. Other objects are passed over. The name is absolute, and so are those in positions.
func readCRDs(name string) ([]crd, diag.List) {
	var report diag.List
	files, err := crdFiles(name)
	if err != nil {
		report.Add(diag.Diagnostic{Message: "reading CustomResourceDefinitions: " + err.Error()})
		return nil, report
	}
	var crds []crd
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			report.Add(diag.Diagnostic{Message: "reading CustomResourceDefinitions: " + err.Error()})
			continue
		}
		crds = append(crds, parseCRDs(file, data, &report)...)
	}
	if len(crds) == 0 && len(report) == 0 {
		report.Add(diag.Diagnostic{
			Pos:     token.Position{Filename: name},
			Message: "there is no CustomResourceDefinition here: give the folder that controller-gen writes them to, or their files",
		})
	}
	return crds, report
}

// crdFiles returns the files that a file or folder stands for.
func crdFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	return files, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parseCRDs returns the definitions in a file of any number of YAML documents.
func parseCRDs(file string, data []byte, report *diag.List) []crd {
	var crds []crd
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return crds
		}
		if err != nil {
			pos := token.Position{Filename: file}
			message := err.Error()
			if m := yamlLine.FindStringSubmatch(message); m != nil {
				pos.Line, _ = strconv.Atoi(m[1])
				message = message[len(m[0]):]
			}
			report.Add(diag.Diagnostic{Pos: pos, Message: "not valid YAML: " + message})
			return crds
		}
		if len(document.Content) != 1 {
			continue
		}
		n := yamlNode{file, document.Content[0]}
		objects := []yamlNode{n}
		if kind := n.get("kind").text(); kind.text == "List" {
			objects = n.get("items").elements()
		}
		for _, object := range objects {
			group, _, _ := strings.Cut(object.get("apiVersion").text().text, "/")
			if group == "apiextensions.k8s.io" && object.get("kind").text().text == "CustomResourceDefinition" {
				if c, ok := object.crd(report); ok {
					crds = append(crds, c)
				}
			}
		}
	}
}

// yamlNode is a node of a YAML file, or none.
type yamlNode struct {
	file string
	node *yaml.Node
}

func (n yamlNode) get(key string) yamlNode {
	if n.node == nil || n.node.Kind != yaml.MappingNode {
		return yamlNode{file: n.file}
	}
	for i := 0; i+1 < len(n.node.Content); i += 2 {
		if n.node.Content[i].Value == key {
			return n.child(i + 1)
		}
	}
	return yamlNode{file: n.file}
}

// child returns what is at a place of the node's content, or what the alias there stands for.
func (n yamlNode) child(i int) yamlNode {
	child := n.node.Content[i]
	if child.Kind == yaml.AliasNode {
		child = child.Alias
	}
	return yamlNode{n.file, child}
}

func (n yamlNode) elements() []yamlNode {
	if n.node == nil || n.node.Kind != yaml.SequenceNode {
		return nil
	}
	var elements []yamlNode
	for i := range n.node.Content {
		elements = append(elements, n.child(i))
	}
	return elements
}

func (n yamlNode) pos() token.Position {
	if n.node == nil {
		return token.Position{}
	}
	return token.Position{Filename: n.file, Line: n.node.Line, Column: n.node.Column}
}

// text returns the value of a scalar.
func (n yamlNode) text() named {
	if n.node == nil || n.node.Kind != yaml.ScalarNode {
		return named{}
	}
	return named{text: n.node.Value, pos: n.pos()}
}

// isTrue says whether the node is a bool and true.
func (n yamlNode) isTrue() bool {
	var value bool
	return n.node != nil && n.node.Decode(&value) == nil && value
}

func (n yamlNode) crd(report *diag.List) (crd, bool) {
	spec := n.get("spec")
	c := crd{
		pos:    n.pos(),
		group:  spec.get("group").text(),
		kind:   spec.get("names").get("kind").text(),
		plural: spec.get("names").get("plural").text(),
		scope:  spec.get("scope").text(),
	}
	for _, v := range spec.get("versions").elements() {
		c.versions = append(c.versions, crdVersion{v.get("name").text(), v.get("served").isTrue()})
	}
	for _, field := range []struct {
		name  string
		value named
	}{{"group", c.group}, {"names.kind", c.kind}, {"names.plural", c.plural}, {"scope", c.scope}} {
		if field.value.text == "" {
			report.Add(diag.Diagnostic{Pos: c.pos, Message: "the CustomResourceDefinition has no spec." + field.name})
			return c, false
		}
	}
	return c, true
}

// hasCRD says whether there is a definition of the kind in whatever group.
func (r *resolver) hasCRD(kind string) bool {
	return slices.ContainsFunc(r.crds, func(c crd) bool { return c.kind.text == kind })
}

// checkCRDs holds kinds against the definitions of the same group and kind. Definitions of groups that no package has
// are others' business, and so are the groups of Kubernetes itself, which have no definitions.
func (r *resolver) checkCRDs(apis []*api) {
	if len(r.crds) == 0 {
		return
	}
	groups := map[string]bool{}
	for _, c := range r.crds {
		groups[c.group.text] = true
	}
	for _, a := range apis {
		if a.group.pos.Filename == "" || a.version.text == "" {
			continue // reported
		}
		for _, k := range a.kinds {
			found := false
			for _, c := range r.crds {
				if c.group.text == a.group.text && c.kind.text == k.Name {
					found = true
					r.checkCRD(a, k, c)
				}
			}
			if found || r.otherGroup(a, k) || builtIn(a.group.text) && !groups[a.group.text] {
				continue
			}
			r.report.Add(diag.Diagnostic{
				Pos: k.pos, Warning: true,
				Message: fmt.Sprintf("none of the CustomResourceDefinitions is that of kind %s in group %s", k.Name, a.group.text),
			})
		}
	}
	r.withoutType(apis)
}

// builtIn says whether a group may be one that the API server has without a CustomResourceDefinition.
func builtIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// otherGroup reports a kind that all definitions have in other groups, if its own group has none at all.
func (r *resolver) otherGroup(a *api, k *kind) bool {
	var other *crd
	for i, c := range r.crds {
		switch {
		case c.group.text == a.group.text:
			return false
		case c.kind.text == k.Name && other == nil:
			other = &r.crds[i]
		}
	}
	if other == nil || builtIn(a.group.text) {
		return false
	}
	r.failAt(a.group.pos, fmt.Sprintf("kind %s is in group %s by its CustomResourceDefinition (%s) and in group %s by %s",
		k.Name, other.group.text, r.short(other.group.pos), a.group.text, a.group.from))
	return true
}

func (r *resolver) checkCRD(a *api, k *kind, c crd) {
	resource, scope := k.resource, k.scope
	if resource.text != c.plural.text {
		pos, advice := resource.pos, ""
		if !pos.IsValid() {
			pos, advice = k.pos, ": "+a.advice("+kubebuilder:resource:path="+c.plural.text+" or +resourceName="+c.plural.text, "resource: "+c.plural.text)
		}
		r.failAt(pos, fmt.Sprintf("the resource of kind %s is %s in its CustomResourceDefinition (%s), but %s by %s%s",
			k.Name, c.plural.text, r.short(c.plural.pos), resource.text, resource.from, advice))
	}
	if scope.text != c.scope.text {
		pos, by, advice := scope.pos, "by "+scope.from, ""
		if !pos.IsValid() {
			write := "+kubebuilder:resource:scope=" + c.scope.text
			if marker.First[marker.Genclient](k.declared.markers) != nil {
				write = "+genclient:nonNamespaced"
			}
			pos, by, advice = k.pos, "because no marker says otherwise", ": "+a.advice(write, "scope: "+c.scope.text)
		}
		r.failAt(pos, fmt.Sprintf("the scope of kind %s is %s in its CustomResourceDefinition (%s), but %s %s%s",
			k.Name, c.scope.text, r.short(c.scope.pos), scope.text, by, advice))
	}
	if len(c.versions) == 0 || marker.First[marker.SkipVersion](k.declared.markers) != nil {
		return // by +kubebuilder:skipversion, the definition leaves the version out
	}
	var served []string
	for _, v := range c.versions {
		if v.served {
			served = append(served, v.name.text)
		}
	}
	if !slices.Contains(served, a.version.text) {
		list := strings.Join(served, ", ")
		if list == "" {
			list = "none"
		}
		r.failAt(k.pos, fmt.Sprintf("the CustomResourceDefinition of kind %s (%s) serves %s, not version %s: nothing can be watched; write +kubebuilder:unservedversion above it, or serve it",
			k.Name, r.short(c.pos), list, a.version.text))
	}
}

// withoutType warns about definitions in a package's group for which nothing is generated in any version, though
// nothing says that this is wanted. A run for some of the packages can't know.
func (r *resolver) withoutType(apis []*api) {
	if r.partial {
		return
	}
	groups := map[string]bool{}
	for _, a := range apis {
		if a.group.pos.Filename != "" {
			groups[a.group.text] = true
		}
	}
	for _, c := range r.crds {
		known := slices.ContainsFunc(r.verdicts, func(v verdict) bool {
			return v.name == c.kind.text && (v.kind == nil && v.advice == "" || v.kind != nil && v.api.group.text == c.group.text)
		})
		if !groups[c.group.text] || known {
			continue
		}
		message := "nothing is generated for kind " + c.kind.text + " of this CustomResourceDefinition: no package has a type for it"
		for _, v := range r.verdicts {
			if v.name == c.kind.text && v.kind == nil {
				message = fmt.Sprintf("nothing is generated for kind %s of this CustomResourceDefinition: type %s (%s) isn't selected; %s", c.kind.text, v.name, r.short(v.pos), v.advice)
				break
			}
		}
		r.report.Add(diag.Diagnostic{Pos: c.kind.pos, Message: message, Warning: true})
	}
}
