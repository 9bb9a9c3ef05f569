// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/request"
)

// Attributes describe a request the way an API server's authorizers see it.
type Attributes struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection, or "" for other
	// methods. For a request for no resource it is the method in lower case.
	Verb string
	// Resource is the resource in the path, whether or not it is served. Name is also set for a
	// list or watch whose field selector asks for one name. Missing parts are "".
	Resource                     schema.GroupVersionResource
	Subresource, Namespace, Name string
	// LabelSelector and FieldSelector are the request's, as the client sent them.
	LabelSelector, FieldSelector string
	// Path is set for a request for no resource, such as discovery, which otherwise has only a
	// Verb.
	Path string
}

// AttributesOf returns the attributes of a request.
func AttributesOf(req *http.Request) Attributes {
	target, ok := request.ParseTarget(req)
	return attributesOf(req, target, ok)
}

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
