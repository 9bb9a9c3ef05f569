// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// File has the roles of a YAML file. Other objects in it are skipped.
type File struct {
	name  string
	text  []byte
	roles []*role
}

type role struct {
	rules    []*rule
	labels   map[string]string
	cluster  bool       // a ClusterRole
	selects  *yaml.Node // selectors of an aggregated ClusterRole, or nil
	document *yaml.Node // the mapping
	key      *yaml.Node // "rules", or nil
	list     *yaml.Node // the value, or nil
}

// rule is an item of a role's rules. In the file, node is its mapping.
type rule struct {
	lists   map[string][]string // by key
	used    map[cell]bool
	node    *yaml.Node // nil for a new rule
	keep    bool       // never unused, never changed
	changed bool       // node has other lists
}

// cell is one of a rule's combinations. Its parts are the rule's items, wildcards
// included.
type cell struct{ group, resource, url, verb string }

const (
	groupsKey    = "apiGroups"
	urlsKey      = "nonResourceURLs"
	namesKey     = "resourceNames"
	resourcesKey = "resources"
	verbsKey     = "verbs"
)

var keys = []string{groupsKey, urlsKey, namesKey, resourcesKey, verbsKey}

// ReadFiles reads roles. Its error is a diag.List if the files can be read as YAML.
func ReadFiles(names ...string) ([]*File, error) {
	var files []*File
	var found diag.List
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the role: %w", err)
		}
		file, list, err := parse(name, text)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		found = append(found, list...)
	}
	found = append(found, checkAggregated(files)...)
	if len(found) > 0 {
		return nil, found.Sorted()
	}
	return files, nil
}

// NewFile returns the file that ReadFiles would read if it had an empty ClusterRole.
func NewFile(name, roleName string) (*File, error) {
	text := "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: " + scalar(roleName) + "\nrules: []\n"
	file, _, err := parse(name, []byte(text))
	return file, err
}

func parse(name string, text []byte) (*File, diag.List, error) {
	p := parser{file: &File{name: name, text: text}}
	kinds := map[string]bool{}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			hint := ""
			if bytes.Contains(text, []byte("{{")) {
				hint = " (render a template first)"
			}
			return nil, nil, fmt.Errorf("read the role in %s%s: %w", name, hint, err)
		}
		if len(document.Content) == 1 {
			kinds[p.object(document.Content[0])] = true
		}
	}
	if len(p.file.roles) == 0 && len(p.found) == 0 {
		delete(kinds, "")
		has := ""
		if len(kinds) > 0 {
			has = "; it has " + strings.Join(sorted(kinds), ", ")
		}
		p.add(nil, "the file has no ClusterRole and no Role%s", has)
	}
	return p.file, p.found, nil
}

type parser struct {
	file  *File
	found diag.List
}

func (p *parser) add(at *yaml.Node, format string, args ...any) {
	p.found.Add(p.file.finding(at, format, args...))
}

func (f *File) finding(at *yaml.Node, format string, args ...any) diag.Diagnostic {
	pos := token.Position{Filename: f.name}
	if at != nil {
		pos.Line, pos.Column = at.Line, at.Column
	}
	return diag.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)}
}

// object reads a document, and returns its kind.
func (p *parser) object(n *yaml.Node) string {
	_, kind := entry(n, "kind")
	if kind == nil || kind.Value != "ClusterRole" && kind.Value != "Role" {
		if kind == nil {
			return ""
		}
		return kind.Value
	}
	if _, version := entry(n, "apiVersion"); version == nil || version.Value != "rbac.authorization.k8s.io/v1" {
		p.add(kind, "a %s of another apiVersion than rbac.authorization.k8s.io/v1 isn't understood", kind.Value)
		return kind.Value
	}
	r := &role{cluster: kind.Value == "ClusterRole", document: n, labels: map[string]string{}}
	p.file.roles = append(p.file.roles, r)
	_, r.selects = entry(n, "aggregationRule")
	if _, metadata := entry(n, "metadata"); metadata != nil {
		_, labels := entry(metadata, "labels")
		for key, value := range entries(labels) {
			r.labels[key.Value] = value.Value
		}
	}
	r.key, r.list = entry(n, "rules")
	switch {
	case r.selects != nil: // a cluster overwrites its rules
	case r.list == nil || r.list.Tag == "!!null":
	case r.list.Kind != yaml.SequenceNode:
		p.add(r.list, "rules isn't a list")
	default:
		for _, item := range r.list.Content {
			r.rules = append(r.rules, p.rule(item, r))
		}
	}
	return kind.Value
}

func (p *parser) rule(n *yaml.Node, of *role) *rule {
	n = target(n)
	r := &rule{lists: map[string][]string{}, used: map[cell]bool{}, node: n, keep: p.file.keepComment(n)}
	if n.Kind != yaml.MappingNode {
		p.add(n, "the rule isn't a mapping of %s", strings.Join(keys, ", "))
		return r
	}
	for key, value := range entries(n) {
		switch {
		case !slices.Contains(keys, key.Value):
			p.found.Add(withAllowed(p.file.finding(key, "the rule has the unknown key %s%s", key.Value, diag.DidYouMean(key.Value, keys)), keys))
		case value.Tag == "!!null":
		case value.Kind != yaml.SequenceNode:
			p.add(value, "%s isn't a list", key.Value)
		default:
			for _, item := range value.Content {
				if item = target(item); item.Kind != yaml.ScalarNode {
					p.add(item, "%s has an item that isn't a text", key.Value)
				}
				r.lists[key.Value] = append(r.lists[key.Value], item.Value)
			}
		}
	}
	resources, urls := len(r.lists[resourcesKey]) > 0, len(r.lists[urlsKey]) > 0
	switch {
	case len(r.lists[verbsKey]) == 0:
		p.add(n, "the rule has no verbs")
	case resources == urls:
		p.add(n, "a rule has either resources or nonResourceURLs")
	case resources && len(r.lists[groupsKey]) == 0:
		p.add(n, `the rule has resources but no apiGroups; "" is the group of pods, secrets and events`)
	case urls && !of.cluster:
		p.add(n, "a Role can't have nonResourceURLs; a ClusterRole can")
	}
	return r
}

func withAllowed(d diag.Diagnostic, allowed []string) diag.Diagnostic {
	d.Allowed = allowed
	return d
}

// checkAggregated finds aggregated ClusterRoles whose rules are in none of the files.
func checkAggregated(files []*File) (found diag.List) {
	for _, f := range files {
		for _, r := range f.roles {
			if r.selects != nil && !selectsAny(r.selects, files) {
				found.Add(f.finding(r.selects, "no ClusterRole of these files has the labels that the aggregationRule selects; name the files with these ClusterRoles, too"))
			}
		}
	}
	return found
}

func selectsAny(aggregation *yaml.Node, files []*File) bool {
	_, selectors := entry(aggregation, "clusterRoleSelectors")
	if selectors == nil {
		return false
	}
	for _, s := range selectors.Content {
		_, want := entry(s, "matchLabels")
		if want == nil { // matchExpressions aren't looked into
			return true
		}
		for _, f := range files {
			for _, r := range f.roles {
				matches := r.cluster && r.selects == nil
				for key, value := range entries(want) {
					matches = matches && r.labels[key.Value] == value.Value
				}
				if matches {
					return true
				}
			}
		}
	}
	return false
}

// keepComment reports whether a line of the comment above n begins with "keep:".
func (f *File) keepComment(n *yaml.Node) bool {
	lines := strings.Split(string(f.text), "\n")
	for i := n.Line - 2; i >= 0 && isComment(lines[i]); i-- {
		if strings.HasPrefix(strings.TrimLeft(lines[i], "# "), "keep:") {
			return true
		}
	}
	return false
}
