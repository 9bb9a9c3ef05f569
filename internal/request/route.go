// SPDX-License-Identifier: Apache-2.0

package request

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target is the content of a request's path, and its verb.
type Target struct {
	Verb        Verb
	Resource    schema.GroupVersionResource
	Namespace   string // "" for all namespaces, and for cluster-scoped resources
	Name        string // "" for a collection
	Subresource string

	watchPath bool // /watch/ precedes the resource, as in old clients' paths
}

// ParseTarget reads a request's method and path, and whether it is a watch. The path is
// /api/VERSION/… or /apis/GROUP/VERSION/…; ok is false for a path without a resource.
func ParseTarget(req *http.Request) (t Target, ok bool) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case slices.Contains(parts, ""):
		return t, false
	case parts[0] == "api" && len(parts) > 2:
		t.Resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		t.Resource.Group, t.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		t.watchPath, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !isNamespaceSubresource(parts[2]) {
		t.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return t, false
	}
	for i, dst := range []*string{&t.Resource.Resource, &t.Name, &t.Subresource}[:len(parts)] {
		*dst = parts[i]
	}
	t.Verb = t.verb(req)
	return t, true
}

// isNamespaceSubresource reports whether the third part of namespaces/shop/… is a subresource of
// the namespace and not a resource in it.
func isNamespaceSubresource(part string) bool { return part == "status" || part == "finalize" }

func (t Target) verb(req *http.Request) Verb {
	named := t.Name != ""
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		switch {
		case t.watchPath, !named && isWatch(req):
			return Watch
		case named:
			return Get
		}
		return List
	case http.MethodPost:
		return Create
	case http.MethodPut:
		return Update
	case http.MethodPatch:
		return patch
	case http.MethodDelete:
		if named {
			return Delete
		}
		return deleteCollection
	}
	return ""
}

// isWatch reads the parameter watch as API servers do: anything but false and 0 is true.
func isWatch(req *http.Request) bool {
	values := req.URL.Query()["watch"]
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

func (t Target) isCollection() bool { return t.Verb == List || t.Verb == Watch }

// Reads reports whether the request reads a resource, not a subresource.
func (t Target) Reads() bool {
	return t.Subresource == "" && (t.Verb == Get || t.isCollection())
}
