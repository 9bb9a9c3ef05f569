// SPDX-License-Identifier: Apache-2.0

package rbactest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/informer-gen/informer-gen/internal/rbac"
	"github.com/informer-gen/informer-gen/internal/request"
)

// needs returns the accesses for which an API server asks its authorizer about a request, and list
// for watches that may become lists.
func needs(req *http.Request) []rbac.Request {
	if req.Header.Get("Impersonate-User") != "" {
		return nil
	}
	t, ok := request.ParseTarget(req)
	if before, _, proxied := strings.Cut(req.URL.Path, "/proxy/"); !ok && proxied {
		t, ok = request.ParseTarget(&http.Request{Method: req.Method, URL: &url.URL{Path: before + "/proxy", RawQuery: req.URL.RawQuery}})
	}
	if !ok {
		return []rbac.Request{{Verb: strings.ToLower(req.Method), Path: req.URL.Path}}
	}
	need := rbac.Request{
		Verb: string(t.Verb), Group: t.Resource.Group, Resource: t.Resource.Resource, Subresource: t.Subresource,
		Name:       t.Name,
		Namespaced: t.Namespace != "" || t.Resource.Group == "" && t.Resource.Resource == "namespaces" && t.Name != "",
	}
	query := req.URL.Query()
	if need.Name == "" && need.Verb != "create" {
		if selector, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
			need.Name, _ = selector.RequiresExactMatch("metadata.name")
		}
	}
	if initial, _ := strconv.ParseBool(query.Get("sendInitialEvents")); initial && t.Verb == request.Watch {
		list := need
		list.Verb = string(request.List)
		return []rbac.Request{need, list}
	}
	return []rbac.Request{need}
}

// describe returns the request's first line, and its sender by the beginning of its User-Agent.
func describe(req *http.Request) string {
	text := req.Method + " " + req.URL.RequestURI()
	if agent, _, _ := strings.Cut(req.UserAgent(), "/"); agent != "" {
		text += " by " + agent
	}
	return text
}
