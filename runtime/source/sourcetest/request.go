// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// query holds the options of a read, and the selection of a delete of many objects.
type query struct {
	namespace    string
	labels       labels.Selector
	fields       fields.Selector
	version      string // "" if none was given
	number       int64  // version as a number; 0 for ""
	match        metav1.ResourceVersionMatch
	limit        int
	token        string
	initial      bool // sendInitialEvents is true
	changesOnly  bool // sendInitialEvents is false
	bookmarks    bool
	timeout      time.Duration
	encoding     encoding
	metadataOnly bool
}

// statusPart is the only subresource that is served.
const statusPart = "status"

// parseRequest reads a request, also its body.
func parseRequest(req *http.Request) (r Request, err error) {
	r = Request{
		Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(),
		Accept:      strings.Join(req.Header.Values("Accept"), ","),
		ContentType: req.Header.Get("Content-Type"), UserAgent: req.UserAgent(),
		Time: time.Now(),
	}
	if req.Body != nil {
		r.Body, err = io.ReadAll(req.Body)
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		r.Resource.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		r.Resource.Group, r.Resource.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return r, err
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !(len(parts) == 3 && ofNamespace(parts[2])) {
		r.Namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 3 {
		return r, err
	}
	for i, dst := range []*string{&r.Resource.Resource, &r.Name, &r.Subresource}[:len(parts)] {
		*dst = parts[i]
	}
	r.Verb = r.verb()
	return r, err
}

// ofNamespace reports whether the third part of namespaces/shop/… is a subresource of the namespace
// and not a resource in it.
func ofNamespace(part string) bool { return part == statusPart || part == "finalize" }

func (r Request) verb() Verb {
	switch {
	case r.Method == http.MethodGet && r.Name != "":
		return Get
	case r.Method == http.MethodPost && r.Name == "", r.Method == http.MethodDelete && r.Subresource == "",
		(r.Method == http.MethodPut || r.Method == http.MethodPatch) && r.Name != "":
		return Write
	case r.Method != http.MethodGet:
		return 0
	case isTrue(r.Query, "watch") && isTrue(r.Query, "sendInitialEvents"):
		return WatchList
	case isTrue(r.Query, "watch"):
		return Watch
	case r.Query.Get("continue") != "":
		return Continue
	default:
		return List
	}
}

func isTrue(q url.Values, name string) bool {
	v, err := strconv.ParseBool(q.Get(name))
	return err == nil && v
}

// parseQuery reads and checks the options of a request to c, by the rules of API servers.
func (c *collection) parseQuery(r Request) (query, *metav1.Status) {
	q := query{
		namespace:   r.Namespace,
		version:     r.Query.Get("resourceVersion"),
		match:       metav1.ResourceVersionMatch(r.Query.Get("resourceVersionMatch")),
		token:       r.Query.Get("continue"),
		initial:     r.Verb == WatchList,
		bookmarks:   isTrue(r.Query, "allowWatchBookmarks"),
		changesOnly: r.Query.Has("sendInitialEvents") && r.Verb == Watch,
	}
	var err error
	if q.labels, err = labels.Parse(r.Query.Get("labelSelector")); err != nil {
		return q, badRequest("unable to parse the label selector: " + err.Error())
	}
	if q.fields, err = fields.ParseSelector(r.Query.Get("fieldSelector")); err != nil {
		return q, badRequest("unable to parse the field selector: " + err.Error())
	}
	for _, want := range q.fields.Requirements() {
		if want.Field != "metadata.name" && want.Field != "metadata.namespace" && !slices.Contains(c.fields, want.Field) {
			return q, badRequest("field label not supported: " + want.Field)
		}
	}
	if q.version != "" {
		if q.number, err = strconv.ParseInt(q.version, 10, 64); err != nil || q.number < 0 {
			return q, badRequest("invalid resource version " + q.version)
		}
	}
	for name, dst := range map[string]*int{"limit": &q.limit, "timeoutSeconds": nil} {
		text := r.Query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return q, badRequest("invalid " + name + " " + text)
		}
		if dst != nil {
			*dst = n
		} else {
			q.timeout = time.Duration(n) * time.Second
		}
	}
	if why := q.forbidden(r); why != "" {
		status := Status(http.StatusUnprocessableEntity)
		status.Message = "ListOptions is invalid: " + why
		return q, status
	}
	var ok bool
	if q.encoding, q.metadataOnly, ok = c.negotiate(r); !ok {
		return q, Status(http.StatusNotAcceptable)
	}
	return q, nil
}

// forbidden returns a message if the request has options that exclude each other, else "".
func (q query) forbidden(r Request) string {
	watch := r.Verb&(Watch|WatchList) != 0
	switch {
	case !watch && r.Query.Has("sendInitialEvents"):
		return "sendInitialEvents is forbidden for list"
	case watch && r.Query.Has("sendInitialEvents") && q.match != metav1.ResourceVersionMatchNotOlderThan:
		return "sendInitialEvents requires resourceVersionMatch NotOlderThan"
	case watch && q.match != "" && !r.Query.Has("sendInitialEvents"):
		return "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
	case q.match != "" && q.match != metav1.ResourceVersionMatchExact && q.match != metav1.ResourceVersionMatchNotOlderThan:
		return "unsupported resourceVersionMatch " + string(q.match)
	case watch:
		return ""
	case q.match != "" && q.version == "":
		return "resourceVersionMatch is forbidden unless resourceVersion is provided"
	case q.match != "" && q.token != "":
		return "resourceVersionMatch is forbidden when continue is provided"
	case q.match == metav1.ResourceVersionMatchExact && q.version == "0":
		return `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`
	}
	return ""
}
