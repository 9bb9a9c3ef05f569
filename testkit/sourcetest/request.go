// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

type query struct {
	*request.Request
	encoding encoding
}

func (q query) filter() watchcache.Filter {
	return watchcache.Filter{Namespace: q.Namespace, Labels: q.Labels, Fields: q.Fields}
}

const statusPart = "status"

func parseRequest(req *http.Request) (r Request, t request.Target, err error) {
	r = Request{
		Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(),
		Accept:      strings.Join(req.Header.Values("Accept"), ","),
		ContentType: req.Header.Get("Content-Type"), UserAgent: req.UserAgent(),
		Time: time.Now(),
	}
	if req.Body != nil {
		r.Body, err = io.ReadAll(req.Body)
	}
	t, ok := request.ParseTarget(req)
	if ok {
		r.Resource, r.Namespace, r.Name, r.Subresource = t.Resource, t.Namespace, t.Name, t.Subresource
		r.Verb = r.verb(t.Verb)
	}
	return r, t, err
}

func (r Request) verb(v request.Verb) Verb {
	switch r.Method {
	case http.MethodGet:
		return r.readVerb(v)
	case http.MethodPost:
		if r.Name == "" {
			return Write
		}
	case http.MethodPut, http.MethodPatch:
		if r.Name != "" {
			return Write
		}
	case http.MethodDelete:
		if r.Subresource == "" {
			return Write
		}
	}
	return 0
}

func (r Request) readVerb(v request.Verb) Verb {
	initial, _ := strconv.ParseBool(r.Query.Get("sendInitialEvents"))
	switch {
	case v == request.Get:
		return Get
	case v == request.Watch && initial:
		return WatchList
	case v == request.Watch:
		return Watch
	case r.Query.Get("continue") != "":
		return Continue
	}
	return List
}

// parse reads the options of a request to c, by the rules of API servers. Options of writes are
// read later, except for the selection of a delete of many objects.
func (c *collection) parse(req *http.Request, t request.Target, r Request) (query, error) {
	t.Subresource = "" // it is served
	switch {
	case r.Method == http.MethodDelete && r.Name == "":
		t.Verb = request.List
	case r.Method == http.MethodPatch:
		t.Verb = request.Update
	}
	many := t.Verb == request.List || t.Verb == request.Watch
	res := c.served()
	res.Namespaced = t.Namespace != "" || many // any collection may be read whole
	parsed, err := t.Parse(req, res)
	if err != nil {
		return query{}, err
	}
	if parsed.Format == request.Protobuf {
		return query{parsed, protoEncoding{}}, nil
	}
	return query{parsed, jsonEncoding{c}}, nil
}

func (c *collection) served() request.Resource {
	res := request.Resource{Kind: c.kind.Kind, Writable: true, Fields: c.fields}
	for _, f := range []request.Format{request.JSON, request.Protobuf} {
		switch {
		case c.server.MediaTypes != nil && !slices.Contains(c.server.MediaTypes, string(f)):
		case f == request.Protobuf && !c.hasProtobuf:
			res.Metadata = append(res.Metadata, f)
		default:
			res.Formats = append(res.Formats, f)
		}
	}
	return res
}
