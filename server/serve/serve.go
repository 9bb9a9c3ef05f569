// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Resource describes one resource that a [Handler] serves.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Singular   string   // for kubectl, such as widget
	ShortNames []string // for kubectl
	Namespaced bool
	Fields     []string // fields the objects declare for selectors, such as spec.nodeName

	// Cache holds the objects, as JSON with apiVersion and kind, or, with Protobuf set, as messages
	// in the form read by package protobuf. Answers have the same encoding. Instead of one cache of
	// all namespaces, Namespaces may have one for each served namespace: requests for others, and
	// for all, are refused with 403.
	Cache      *watchcache.Cache
	Namespaces map[string]*watchcache.Cache
	Protobuf   bool

	// Writer stores the clients' creates, updates and deletes. Cache must read from the same
	// storage. If Writer is nil, writes are refused with 405.
	Writer Writer
	// Upstream answers writes, also to subresources, and reads of subresources. It is a proxy to an
	// API server, which does its own authorization. Writer and Upstream exclude each other.
	Upstream http.Handler
	// Fresh waits until Cache is as fresh as its storage was at the call. It is called before
	// requests for the newest state, and before writes; its error is the answer. If it is nil, they
	// are answered at the cache's version. Module adapter/etcd's Storage has such a function.
	Fresh func(ctx context.Context) error
	// Strict passes gets and lists without a version, and later pages of lists, to Upstream. The
	// cache answers watches.
	Strict bool
}

// New returns a handler for c.Resources. It fails if two of them have the same path, or if a
// resource lacks a required field or sets fields that exclude each other.
func New(c Config) (*Handler, error) {
	h := &Handler{config: c.withDefaults(), resources: map[schema.GroupVersionResource]Resource{}}
	h.frames.limit = h.config.SlowBytes
	h.joins.quota = quota{limit: h.config.MaxJoins, share: 1}
	h.watches = newWatches(h.config.MaxWatches)
	for _, r := range c.Resources {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("serve %s: %w", r.GroupVersionResource, err)
		}
		if _, listed := h.resources[r.GroupVersionResource]; listed {
			return nil, fmt.Errorf("serve %s: it is listed twice in Resources", r.GroupVersionResource)
		}
		h.resources[r.GroupVersionResource] = r
	}
	h.discovery = discoveryOf(c.Resources)
	return h, nil
}

func (r Resource) check() error {
	switch {
	case r.Version == "" || r.Resource == "" || r.Kind == "" || r.Cache == nil && len(r.Namespaces) == 0:
		return errors.New("set Version, Resource, Kind, and Cache or Namespaces")
	case len(r.Namespaces) > 0 && (r.Cache != nil || !r.Namespaced):
		return errors.New("field Namespaces needs Namespaced, and excludes Cache")
	case r.Writer != nil && r.Protobuf:
		return errors.New("Writer stores JSON, and Protobuf is set; set one of them")
	case r.Writer != nil && r.Upstream != nil:
		return errors.New("Writer and Upstream are both set; set one of them")
	case r.Strict && r.Upstream == nil:
		return errors.New("field Strict needs an Upstream")
	}
	return nil
}

func (r Resource) cacheFor(namespace string) (*watchcache.Cache, error) {
	if r.Cache != nil {
		return r.Cache, nil
	}
	if cache := r.Namespaces[namespace]; cache != nil {
		return cache, nil
	}
	served := slices.Sorted(maps.Keys(r.Namespaces))
	return nil, apierrors.NewForbidden(r.GroupVersionResource.GroupResource(), "", fmt.Errorf("only the namespaces %s are served", strings.Join(served, ", ")))
}

// Handler serves resources over HTTP. [New] makes one. It is safe for concurrent use.
type Handler struct {
	// set once at construction
	config    Config
	resources map[schema.GroupVersionResource]Resource
	discovery map[document][]byte

	joins   joins
	states  states
	frames  frameBudget
	watches *watches
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private")
	if h.watches.isClosing() {
		w.Header().Set("Connection", "close")
	}
	target, ok := request.ParseTarget(req)
	err := h.authorize(req, target, ok)
	if err == nil {
		err = request.ErrNoResource
		if resource, served := h.resources[target.Resource]; ok && served {
			err = h.serve(w, req, resource, target)
		}
	}
	switch {
	case errors.Is(err, request.ErrNoResource):
		h.serveDiscovery(w, req)
	case err != nil:
		h.refuse(w, req, err)
	}
}

// serveUpstream lets the resource's Upstream answer, without the deadline left by an earlier write
// to the connection.
func serveUpstream(w http.ResponseWriter, req *http.Request, res Resource) {
	// Connections without deadlines, as in tests without a network, return an error.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	res.Upstream.ServeHTTP(w, req)
}

func (h *Handler) serve(w http.ResponseWriter, req *http.Request, res Resource, target request.Target) error {
	if res.Upstream != nil && !target.Reads() {
		serveUpstream(w, req, res)
		return nil
	}
	formats := []request.Format{request.JSON}
	if res.Protobuf {
		formats = []request.Format{request.Protobuf}
	}
	r, err := target.Parse(req, request.Resource{
		Kind: res.Kind, Namespaced: res.Namespaced, Writable: res.Writer != nil, Shards: h.config.Shards, Formats: formats, Fields: res.Fields,
	})
	if err != nil {
		return err
	}
	if res.Cache, err = res.cacheFor(r.Namespace); err != nil {
		return err
	}
	if res.Strict && (r.State.Match == request.Newest || r.From != "") && r.Verb != request.Watch {
		serveUpstream(w, req, res)
		return nil
	}
	if res.Fresh != nil && r.State.Match == request.Newest {
		if err := res.Fresh(req.Context()); err != nil {
			return err
		}
	}
	setFreshness(w, res.Cache)
	switch r.Verb {
	case request.Get:
		return h.get(w, req, res, r)
	case request.List:
		return h.list(w, req, res, r)
	case request.Watch:
		return h.watch(w, req, res, target, r)
	}
	return h.write(w, req, res, r)
}
