// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is what a request is checked against.
type Resource struct {
	Kind       string // of its objects, such as Pod
	Namespaced bool
	Formats    []Format // of objects and their metadata, the preferred one first; at least one
	Fields     []string // for field selectors, beside metadata.name and metadata.namespace
}

// Verb is what a request asks for.
type Verb int

// The verbs of requests that read.
const (
	Get   Verb = iota + 1 // one object
	List                  // the objects of a collection
	Watch                 // its changes, as a stream
)

// Request is a request that an API server would not refuse by itself.
type Request struct {
	Verb      Verb
	Resource  schema.GroupVersionResource
	Namespace string // "" for all of them, and for cluster-scoped resources
	Name      string // of a get; a list or watch of one name has it in Fields
	State     State

	// Labels and Fields select objects of a list or watch. They are not nil there.
	Labels labels.Selector
	Fields fields.Selector

	// Limit is how many objects a list may have, 0 for any number. From is the key to begin at,
	// "" for the first one: a namespace and a name, joined by a slash, or the name of an object
	// that has no namespace. It need not be the key of an object.
	Limit int64
	From  string

	// A watch sends the objects of State first if Initial is set, and changes from then on.
	// Bookmarks allows bookmarks in between, and asks for one that ends the objects.
	Initial, Bookmarks bool

	// Timeout is when a watch ends: 0 if the client leaves that to the server, at once if it is
	// negative.
	Timeout time.Duration

	// Format is that of objects and events. If Partial is not empty, objects are to be sent as
	// PartialObjectMetadata of that version of meta.k8s.io. Gzip reports whether the client takes
	// compressed answers.
	Format  Format
	Partial string
	Gzip    bool
}

// Match is how a version and a state belong together.
type Match int

// What a request says about the version of a state.
const (
	Newest       Match = iota // what the storage has when it is asked
	Any                       // what is at hand
	NotOlderThan              // what is at hand, if it is at the version or later
	Exactly                   // what the storage had at the version
)

// State is the state of a resource that a request is about. Version is 0 with Newest and Any.
type State struct {
	Match   Match
	Version uint64
}

// ErrNoResource is what Parse returns for a path that an API server has no resource for. Its answer
// is a 404 in plain text, not a status.
var ErrNoResource = errors.New("no resource is served at this path")

// Parse reads a request. find returns what is served as a resource. The error is ErrNoResource, or
// an *apierrors.StatusError with the answer of an API server.
func Parse(req *http.Request, find func(schema.GroupVersionResource) (Resource, bool)) (*Request, error) {
	path, ok := parsePath(req.URL.Path)
	if !ok {
		return nil, ErrNoResource
	}
	resource, ok := find(path.resource)
	if !ok {
		return nil, ErrNoResource
	}
	verb := path.verb(req.Method)
	collection := verb == "list" || verb == "watch"
	if resource.Namespaced && path.namespace == "" && !collection || !resource.Namespaced && path.namespace != "" {
		return nil, ErrNoResource
	}
	if path.subresource != "" {
		return nil, apierrors.NewNotFound(path.resource.GroupResource(), path.name)
	}
	if verb != "get" && !collection {
		return nil, apierrors.NewMethodNotSupported(path.resource.GroupResource(), verb)
	}

	r := &Request{Resource: path.resource, Namespace: path.namespace, Gzip: takesGzip(req.Header.Get("Accept-Encoding"))}
	media, err := resource.negotiate(req.Header.Get("Accept"))
	if err != nil {
		return nil, err
	}
	if collection {
		err = r.readCollection(path, req.URL.Query(), resource)
	} else {
		err = r.readGet(path, req.URL.Query())
	}
	if err == nil {
		err = r.answerIn(media, resource.Kind)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}
