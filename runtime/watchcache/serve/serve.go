// SPDX-License-Identifier: Apache-2.0

// Package serve answers HTTP requests for lists, gets and watches from watch caches, as an API
// server does: kubectl, client-go and the informers of this module take a [Handler] for one.
//
//	client ┄▶ request ─▶ serve ─▶ watchcache ─▶ serve ┄▶ client
//
// What is asked for without a resourceVersion is answered at the cache's version, which is as old
// as the storage's last event. All else is as an API server answers it, with these exceptions:
//
//   - Answers are JSON. Tables, YAML, protobuf and CBOR are refused with 406, after which kubectl
//     and client-go take JSON. JSON is not indented, whatever pretty is.
//   - A list at an exact version that the cache no longer has, or never had, is refused with 410.
//     An API server asks etcd, which may have it.
//   - The answer to HEAD, and to a watch over a WebSocket, is that to GET.
//   - The parameters timeout and shardSelector are not read.
//
// There are no writes: they are refused with 405.
//
// # Blocking
//
// A request waits for its version, as package watchcache has it, and for its client: what can't be
// sent within [Config].WriteTimeout ends the connection. A watch takes the goroutine that net/http
// has for its request, and nothing of other requests.
package serve

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/internal/request"
)

// Resource is what a [Handler] serves at the paths of one resource.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Singular   string   // for kubectl, such as widget
	ShortNames []string // for kubectl
	Namespaced bool
	Fields     []string // those that the objects declare, such as spec.nodeName

	// Cache has the objects, as JSON with apiVersion and kind.
	Cache *watchcache.Cache
}

// Config is the settings of a [Handler].
type Config struct {
	Resources []Resource

	// WatchTimeout is the shortest time after which a watch ends whose client leaves that to the
	// server; the longest is twice that. 30 minutes by default.
	WatchTimeout time.Duration
	// WriteTimeout is how long a client may take to read what is sent at once, which is 64 KiB
	// about; 2 minutes by default.
	WriteTimeout time.Duration
}

// New returns a handler of requests for resources. It fails if two of them have the same path, or
// one lacks a part.
func New(c Config) (*Handler, error) {
	h := &Handler{
		resources:    map[schema.GroupVersionResource]Resource{},
		watchTimeout: c.WatchTimeout,
		writeTimeout: c.WriteTimeout,
	}
	if h.watchTimeout <= 0 {
		h.watchTimeout = 30 * time.Minute
	}
	if h.writeTimeout <= 0 {
		h.writeTimeout = 2 * time.Minute
	}
	for _, r := range c.Resources {
		if r.Version == "" || r.Resource == "" || r.Kind == "" || r.Cache == nil {
			return nil, fmt.Errorf("serve %s: version, resource, kind and cache must be set", r.GroupVersionResource)
		}
		if _, taken := h.resources[r.GroupVersionResource]; taken {
			return nil, fmt.Errorf("serve %s: it is there twice", r.GroupVersionResource)
		}
		h.resources[r.GroupVersionResource] = r
	}
	h.discovery = discoveryOf(c.Resources)
	return h, nil
}

// Handler serves resources over HTTP. [New] makes one. Any number of goroutines may call it.
type Handler struct {
	// set once at construction
	resources                  map[schema.GroupVersionResource]Resource
	discovery                  map[string][]byte // by path
	watchTimeout, writeTimeout time.Duration
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private")
	r, err := request.Parse(req, h.find)
	if errors.Is(err, request.ErrNoResource) {
		h.serveDiscovery(w, req)
		return
	}
	if err == nil {
		resource := h.resources[r.Resource]
		switch r.Verb {
		case request.Get:
			err = h.get(w, req, resource, r)
		case request.List:
			err = h.list(w, req, resource, r)
		case request.Watch:
			err = h.watch(w, req, resource, r)
		}
	}
	if err != nil {
		h.refuse(w, req, err)
	}
}

// find returns what a request for a resource is checked against.
func (h *Handler) find(gvr schema.GroupVersionResource) (request.Resource, bool) {
	r, ok := h.resources[gvr]
	return request.Resource{Kind: r.Kind, Namespaced: r.Namespaced, Formats: []request.Format{request.JSON}, Fields: r.Fields}, ok
}
