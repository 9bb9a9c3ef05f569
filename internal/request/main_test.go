// SPDX-License-Identifier: Apache-2.0

package request

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// resources are the served resources.
var resources = map[schema.GroupVersionResource]Resource{
	{Group: "samples.dev", Version: "v1", Resource: "widgets"}: {
		Kind: "Widget", Namespaced: true, Formats: []Format{JSON}, Fields: []string{"spec.node", "spec.color"},
	},
	{Group: "samples.dev", Version: "v1", Resource: "gizmos"}: {Kind: "Gizmo", Formats: []Format{JSON}},
	{Version: "v1", Resource: "namespaces"}:                   {Kind: "Namespace", Formats: []Format{JSON, Protobuf}},
}

// parse reads a request written as [METHOD] PATH[?QUERY]. The path is relative to
// /apis/samples.dev/v1/ unless it begins with a slash. The query is not escaped.
func parse(text, accept string) (*Request, error) {
	method, target, ok := strings.Cut(text, " /")
	if !ok || strings.ContainsAny(method, "?=") {
		method, target = http.MethodGet, text
	} else {
		target = "/" + target
	}
	path, query, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") {
		path = "/apis/samples.dev/v1/" + path
	}
	req := httptest.NewRequest(method, "/", nil)
	req.URL.Path, req.URL.RawQuery = path, strings.ReplaceAll(url.PathEscape(query), "+", "%2B")
	req.Header.Set("Accept", accept)
	return parseRequest(req)
}

func parseRequest(req *http.Request) (*Request, error) {
	t, ok := ParseTarget(req)
	if !ok {
		return nil, ErrNoResource
	}
	resource, ok := resources[t.Resource]
	if !ok {
		return nil, ErrNoResource
	}
	return t.Parse(req, resource)
}

// describe returns a request, or its refusal, in one line.
func describe(r *Request, err error) string {
	var status *apierrors.StatusError
	switch {
	case errors.Is(err, ErrNoResource):
		return "404"
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s %q", status.ErrStatus.Code, cmp.Or(string(status.ErrStatus.Reason), "-"), status.ErrStatus.Message)
	case err != nil:
		return "another error: " + err.Error()
	}
	words := []string{
		string(r.Verb),
		map[match]string{Newest: "newest", Any: "any", NotOlderThan: "not older than", Exactly: "exactly"}[r.State.Match],
	}
	add := func(show bool, format string, args ...any) {
		if show {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(r.State.Version > 0, "%d", r.State.Version)
	add(r.Resource.Resource != "widgets", "of %s", r.Resource.Resource)
	add(r.Namespace != "", "in %s", r.Namespace)
	add(r.Name != "", "named %s", r.Name)
	add(r.Limit > 0, "limit %d", r.Limit)
	add(r.From != "", "from %q", r.From)
	add(r.Labels != nil && !r.Labels.Empty(), "labels %v", r.Labels)
	add(r.Fields != nil && !r.Fields.Empty(), "fields %v", r.Fields)
	add(r.Initial, "objects")
	add(r.Verb == Watch, "changes")
	add(r.Bookmarks, "bookmarks")
	add(r.Timeout != 0, "for %v", r.Timeout)
	add(r.Format != JSON, "as %s", r.Format)
	add(r.Partial != "", "metadata %s", r.Partial)
	add(r.Gzip, "gzip")
	return strings.Join(words, " ")
}
