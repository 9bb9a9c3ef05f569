// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/request"
)

// Attributes are what a request asks for, as an API server's authorizers see it.
type Attributes struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; "" for another
	// method. Of a request for no resource it is the method in lower case.
	Verb string
	// Resource is what the path names, which need not be served. Name is also set for a list or
	// watch whose field selector asks for one name. What the request leaves open is "".
	Resource                     schema.GroupVersionResource
	Subresource, Namespace, Name string
	// LabelSelector and FieldSelector are those of the request, as the client has sent them.
	LabelSelector, FieldSelector string
	// Path is that of a request for no resource, such as discovery, which has only a Verb besides.
	Path string
}

// AttributesOf returns what a request asks for.
func AttributesOf(req *http.Request) Attributes {
	target, ok := request.ParseTarget(req)
	return attributesOf(req, target, ok)
}

// authorize returns why a request is refused, or nil.
func (h *Handler) authorize(req *http.Request, target request.Target, isResource bool) error {
	if h.config.Authorize == nil {
		return nil
	}
	return h.config.Authorize(req.Context(), attributesOf(req, target, isResource))
}

func attributesOf(req *http.Request, target request.Target, isResource bool) Attributes {
	if !isResource {
		return Attributes{Verb: strings.ToLower(req.Method), Path: req.URL.Path}
	}
	a := Attributes{
		Verb: string(target.Verb), Resource: target.Resource,
		Subresource: target.Subresource, Namespace: target.Namespace, Name: target.Name,
	}
	if target.Name == "" && req.URL.RawQuery != "" {
		query := req.URL.Query()
		a.LabelSelector, a.FieldSelector = query.Get("labelSelector"), query.Get("fieldSelector")
		a.Name = selectedName(a.FieldSelector)
	}
	return a
}

// selectedName returns the one name that a field selector asks for, or "".
func selectedName(selector string) string {
	if selector == "" {
		return ""
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return "" // the request will be refused
	}
	name, _ := parsed.RequiresExactMatch("metadata.name")
	return name
}
