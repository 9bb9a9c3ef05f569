// SPDX-License-Identifier: Apache-2.0

package request

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// route is the content of a path.
type route struct {
	resource    schema.GroupVersionResource
	namespace   string // "" for all of them, and for cluster-scoped resources
	name        string // "" for a collection
	subresource string
	watch       bool // the path has /watch/ in front of the resource, as clients had it long ago
}

// parsePath reads /api/VERSION/… and /apis/GROUP/VERSION/…, and returns false if path is that of no
// resource.
func parsePath(path string) (r route, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case slices.Contains(parts, ""):
		return r, false
	case parts[0] == "api" && len(parts) > 2:
		r.resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		r.resource.Group, r.resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return r, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		r.watch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !ofNamespace(parts[2]) {
		r.namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return r, false
	}
	for i, dst := range []*string{&r.resource.Resource, &r.name, &r.subresource}[:len(parts)] {
		*dst = parts[i]
	}
	return r, true
}

// ofNamespace reports whether the third part of namespaces/shop/… is a subresource of the namespace
// and not a resource in it.
func ofNamespace(part string) bool { return part == "status" || part == "finalize" }

// verb returns an API server's word for what a request does, "" if it has none. A list may be a
// watch: its parameters decide.
func (r route) verb(method string) string {
	one := r.name != ""
	switch {
	case r.watch:
		return "watch"
	case method == http.MethodGet && one, method == http.MethodHead && one:
		return "get"
	case method == http.MethodGet, method == http.MethodHead:
		return "list"
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && one:
		return "delete"
	case method == http.MethodDelete:
		return "deletecollection"
	}
	return ""
}
