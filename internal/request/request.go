// SPDX-License-Identifier: Apache-2.0

package request

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource describes the resource a request is checked against.
type Resource struct {
	Kind       string // of its objects, such as Pod
	Namespaced bool
	Writable   bool     // objects may be created, updated and deleted
	Shards     bool     // shardSelector is read, as with the feature gate ShardedListAndWatch
	Formats    []Format // of objects and their metadata, the preferred one first
	Metadata   []Format // of metadata only, in addition to Formats
	Fields     []string // for field selectors, besides metadata.name and metadata.namespace
}

// Verb is an API server's verb for a request; "" if there is none.
type Verb string

// Verbs of API servers.
const (
	Get              Verb = "get"   // one object
	List             Verb = "list"  // the objects of a collection
	Watch            Verb = "watch" // its changes, as a stream
	Create           Verb = "create"
	Update           Verb = "update"
	patch            Verb = "patch"
	Delete           Verb = "delete"
	deleteCollection Verb = "deletecollection"
)

// Request is a request that passes an API server's own checks.
type Request struct {
	Verb      Verb
	Resource  schema.GroupVersionResource
	Namespace string // "" for all namespaces, and for cluster-scoped resources
	Name      string // of a get, update or delete; a list or watch of one name has it in Fields
	State     State

	// Labels and Fields select objects of a list or watch, and are not nil there. Shard is a valid
	// shard selector; "" selects all.
	Labels labels.Selector
	Fields fields.Selector
	Shard  string

	// Limit is the maximum number of objects in a list; 0 means no limit. From is the key to begin
	// at, whether or not it has an object; "" means the first one. Keys are NAMESPACE/NAME, or NAME
	// for objects without a namespace.
	Limit int64
	From  string

	// Initial makes a watch send the objects of State before the changes since then. Bookmarks
	// allows bookmarks in between, and asks for one that ends the objects.
	Initial, Bookmarks bool

	// Timeout is the duration of a watch: 0 leaves it to the server, a negative one ends it at
	// once.
	Timeout time.Duration

	// Format is for objects and events. Partial, if not empty, is the version of meta.k8s.io in
	// which to send objects as PartialObjectMetadata. Gzip reports whether the client accepts
	// compressed answers.
	Format  Format
	Partial string
	Gzip    bool

	formats, metadata []Format // the resource's
}

type match int

// Matches of a version.
const (
	Newest       match = iota // the storage's state at the time of the request
	Any                       // any state at hand
	NotOlderThan              // any state at the version or later
	Exactly                   // the storage's state at the version
)

// State is the requested state of a resource. Version is 0 with Newest and Any.
type State struct {
	Match   match
	Version uint64
}

// ErrNoResource is Parse's error for a path without a resource. An API server answers it with 404
// in plain text, not with a Status.
var ErrNoResource = errors.New("no resource is served at this path")

// Parse reads a request for a resource. The error is ErrNoResource, or an *apierrors.StatusError
// with an API server's answer. Parse leaves the body to [Request.ReadWrite].
func (t Target) Parse(req *http.Request, resource Resource) (*Request, error) {
	if resource.Namespaced && t.Namespace == "" && !t.isCollection() || !resource.Namespaced && t.Namespace != "" {
		return nil, ErrNoResource
	}
	if t.Subresource != "" {
		return nil, apierrors.NewNotFound(t.Resource.GroupResource(), t.Name)
	}
	switch t.Verb {
	case Get, List, Watch:
	case Create, Update, Delete:
		if resource.Writable && (t.Verb == Create) == (t.Name == "") {
			break
		}
		fallthrough
	default:
		return nil, apierrors.NewMethodNotSupported(t.Resource.GroupResource(), string(t.Verb))
	}

	r := &Request{
		Verb: t.Verb, Resource: t.Resource, Namespace: t.Namespace, Gzip: acceptsGzip(req.Header.Get("Accept-Encoding")),
		formats: resource.Formats, metadata: resource.Metadata,
	}
	if t.Name != "" && !t.isCollection() {
		if why := invalidNameReason(t.Name); why != "" {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", t.Name, why))
		}
		r.Name = t.Name
	}
	media, err := resource.negotiate(req.Header.Get("Accept"))
	if err != nil {
		return nil, err
	}
	switch t.Verb {
	case Get:
		err = r.readGet(req.URL.Query())
	case List, Watch:
		err = r.readCollection(t, req.URL.Query(), resource)
	}
	if err == nil {
		err = r.setFormat(media, resource.Kind)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}
