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

// Resource is what a request is checked against.
type Resource struct {
	Kind       string // of its objects, such as Pod
	Namespaced bool
	Writable   bool     // objects may be created, updated and deleted
	Shards     bool     // shardSelector is read, as with the feature gate ShardedListAndWatch
	Formats    []Format // of objects and their metadata, the preferred one first
	Metadata   []Format // of metadata only, beside Formats
	Fields     []string // for field selectors, beside metadata.name and metadata.namespace
}

// Verb is what a request asks for, in an API server's word; "" if that has none.
type Verb string

// The verbs that there are.
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

// Request is a request that an API server would not refuse by itself.
type Request struct {
	Verb      Verb
	Resource  schema.GroupVersionResource
	Namespace string // "" for all of them, and for cluster-scoped resources
	Name      string // of a get, update or delete; a list or watch of one name has it in Fields
	State     State

	// Labels and Fields select objects of a list or watch. They are not nil there.
	// Shard is a shard selector, which is well-formed; "" selects all.
	Labels labels.Selector
	Fields fields.Selector
	Shard  string

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

	formats, metadata []Format // of the resource
}

// match is how a version and a state belong together.
type match int

// What a request says about the version of a state.
const (
	Newest       match = iota // what the storage has when it is asked
	Any                       // what is at hand
	NotOlderThan              // what is at hand, if it is at the version or later
	Exactly                   // what the storage had at the version
)

// State is the state of a resource that a request is about. Version is 0 with Newest and Any.
type State struct {
	Match   match
	Version uint64
}

// ErrNoResource is what Parse returns for a path that an API server has no resource for. Its answer
// is a 404 in plain text, not a status.
var ErrNoResource = errors.New("no resource is served at this path")

// Parse reads a request that is aimed at a resource. The error is ErrNoResource, or an
// *apierrors.StatusError with the answer of an API server. The body is left to [Request.ReadWrite].
func (t Target) Parse(req *http.Request, resource Resource) (*Request, error) {
	if resource.Namespaced && t.Namespace == "" && !t.ofCollection() || !resource.Namespaced && t.Namespace != "" {
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
		Verb: t.Verb, Resource: t.Resource, Namespace: t.Namespace, Gzip: takesGzip(req.Header.Get("Accept-Encoding")),
		formats: resource.Formats, metadata: resource.Metadata,
	}
	if t.Name != "" && !t.ofCollection() {
		if why := wrongName(t.Name); why != "" {
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
		err = r.answerIn(media, resource.Kind)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}
