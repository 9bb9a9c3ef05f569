// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// requestVerbs are the verbs of requests for resources; only roles have others.
var requestVerbs = []string{"*", "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// Comparison has the missing and the unused rules of files.
type Comparison struct {
	// Missing has a finding for each verb of a resource without a rule.
	Missing diag.List
	// Unused has a finding for each resource of a rule with verbs without requests.
	Unused diag.List

	files   []*File
	missing []Request
}

// Compare compares the rules of files, which aren't empty, with all requests of a program.
func Compare(files []*File, requests []Record) *Comparison {
	c := &Comparison{files: files}
	for _, f := range files {
		for r := range f.rules() {
			r.used = map[cell]bool{}
		}
	}
	type access struct{ target, verb string }
	found := map[access]bool{} // of missing rules, whatever the names of objects
	for _, request := range requests {
		if c.use(request.Request) || allowedToAll(request.Request) {
			continue
		}
		c.missing = append(c.missing, request.Request)
		if a := (access{request.target(), request.Verb}); !found[a] {
			found[a] = true
			c.Missing.Add(files[0].finding(nil, "no rule allows %s of %s; needed for %s", request.Verb, request.target(), request.First))
		}
	}
	for _, f := range files {
		for r := range f.rules() {
			c.Unused = append(c.Unused, f.unused(r)...)
		}
	}
	return c
}

func (f *File) rules() func(yield func(*rule) bool) {
	return func(yield func(*rule) bool) {
		for _, role := range f.roles {
			for _, r := range role.rules {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// use marks the cells of all rules that allow a request, and reports whether any does.
func (c *Comparison) use(q Request) (allowed bool) {
	for _, f := range c.files {
		for _, role := range f.roles {
			if !role.cluster && !q.Namespaced {
				continue
			}
			for _, r := range role.rules {
				allowed = r.use(q) || allowed
			}
		}
	}
	return allowed
}

func (r *rule) use(q Request) (allowed bool) {
	if names := r.lists[namesKey]; len(names) > 0 && !slices.Contains(names, q.Name) {
		return false
	}
	for c := range r.cells() {
		if (c.verb == "*" || c.verb == q.Verb) && c.matches(q) {
			r.used[c], allowed = true, true
		}
	}
	return allowed
}

// cells yields all cells of the rule.
func (r *rule) cells() func(yield func(cell) bool) {
	return func(yield func(cell) bool) {
		for _, verb := range r.lists[verbsKey] {
			for _, url := range r.lists[urlsKey] {
				if !yield(cell{url: url, verb: verb}) {
					return
				}
			}
			for _, group := range r.lists[groupsKey] {
				for _, resource := range r.lists[resourcesKey] {
					if !yield(cell{group: group, resource: resource, verb: verb}) {
						return
					}
				}
			}
		}
	}
}

// matches has the rules of the API server's RBAC authorizer, except for verbs and names.
func (c cell) matches(q Request) bool {
	if q.Resource == "" {
		prefix, wild := strings.CutSuffix(c.url, "*")
		return c.url != "" && (c.url == q.Path || wild && strings.HasPrefix(q.Path, prefix))
	}
	if c.resource == "" || c.group != "*" && c.group != q.Group {
		return false
	}
	sub, anyResource := strings.CutPrefix(c.resource, "*/")
	return c.resource == "*" || c.resource == q.resource() || anyResource && q.Subresource != "" && sub == q.Subresource
}

// judged reports whether requests can show that c is needed.
func (c cell) judged() bool {
	return c.url != "" || slices.Contains(requestVerbs, c.verb) && !strings.HasSuffix(c.resource, "/finalizers")
}

// unused returns a finding for each item of resources or nonResourceURLs.
func (f *File) unused(r *rule) (found diag.List) {
	if r.keep {
		return nil
	}
	type item struct{ group, resource, url string }
	verbs := map[item][]string{}
	var items []item
	for c := range r.cells() {
		if c.judged() && !r.used[c] {
			i := item{c.group, c.resource, c.url}
			if verbs[i] == nil {
				items = append(items, i)
			}
			verbs[i] = append(verbs[i], c.verb)
		}
	}
	for _, i := range items {
		key, value, name := resourcesKey, i.resource, describe(i.group, i.resource)
		if i.url != "" {
			key, value, name = urlsKey, i.url, i.url
		}
		hint := ""
		if strings.HasSuffix(i.resource, "/*") && i.resource != "*/*" {
			hint = "; API servers know no such wildcard, but * and */SUBRESOURCE"
		}
		at := r.node
		_, list := entry(r.node, key)
		for _, n := range list.Content {
			if target(n).Value == value {
				at = n
				break
			}
		}
		found.Add(f.finding(at, "no request needs %s of %s%s", strings.Join(verbs[i], ", "), name, hint))
	}
	return found.Sorted()
}

// allowedToAll reports whether every API server allows a request to every user, by the roles
// system:basic-user, system:discovery and system:public-info-viewer.
func allowedToAll(q Request) bool {
	switch {
	case q.Resource == "":
		first, _, _ := strings.Cut(strings.TrimPrefix(q.Path, "/"), "/")
		return q.Verb == "get" && slices.Contains([]string{"api", "apis", "healthz", "livez", "openapi", "readyz", "version"}, first)
	case q.Group == "authorization.k8s.io":
		return q.Verb == "create" && (q.Resource == "selfsubjectaccessreviews" || q.Resource == "selfsubjectrulesreviews")
	case q.Group == "authentication.k8s.io":
		return q.Verb == "create" && q.Resource == "selfsubjectreviews"
	}
	return false
}
