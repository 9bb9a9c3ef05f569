// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Server is an API server in memory. Make one with [New]. Its methods, and those of its
// collections, may be called by any goroutine at any time, also from the functions of a Fault.
//
//	Create, Update, Delete ─▶ rules of writes ◀─ POST, PUT, PATCH, DELETE
//	                                │
//	                             storage ─▶ watch cache       of each collection
//	                                            │
//	                               get, list, a watcher      reading a body moves its own
//	                                            │
//	                              faults ─▶ format ─▶ body
type Server struct {
	// BookmarkInterval is the time between two bookmarks of a watch. 0 means a minute, as in API
	// servers; a negative value means that bookmarks come from Server.Bookmark only (and at the end
	// of initial events). Set it before the first request.
	BookmarkInterval time.Duration
	// MediaTypes are the formats that the server offers, of JSON and Protobuf. nil means both. Set
	// it before the first request.
	MediaTypes []string
	// Patches makes strategic merge patches and server-side apply: set it to patches.All of package
	// sourcetest/patches. nil means that both are refused. Set it before the first request.
	Patches patcher

	mu          sync.Mutex // mu guards what follows, and the content of all collections
	version     uint64     // of the last write to any collection
	uids        int64
	collections map[schema.GroupVersionResource]*collection
	requests    []Request
	faults      []*Fault
	// closed at the next write, bookmark or end of watches; nil if no watch waits
	changed   chan struct{}
	bookmarks int // calls of Bookmark
	ends      int // calls of EndWatches
}

// The formats of Server.MediaTypes.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// New returns a server without resources. It starts nothing.
func New() *Server {
	return &Server{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

// Config returns a configuration whose clients reach the server in memory, without a socket, and
// make any number of requests at once: QPS is -1.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://sourcetest.invalid", Transport: s, QPS: -1}
}

// Requests returns all requests in the order of their arrival, also those that were answered by a
// fault.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ResourceVersion returns the version of the last write to any collection.
func (s *Server) ResourceVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return format(s.version)
}

// Compact makes the server forget its history, all versions before the present one: watches and
// lists that ask for them are answered with 410, open watches go on. It frees no memory: a server
// keeps all that was ever written.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		c.history.oldest = s.version
	}
}

// Bookmark sends a bookmark of the present version in every open watch that has asked for
// bookmarks.
func (s *Server) Bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bookmarks++
	s.wakeLocked()
}

// EndWatches ends every open watch normally, after the events up to now.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWatchesLocked()
}

// Restore puts the server back to an earlier version, as an API server whose backup is restored:
// the writes since then are undone, their versions will be used again, and open watches end. It
// panics if the version is not in the history.
func (s *Server) Restore(resourceVersion string) {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || version == 0 || version > s.version {
		panic("sourcetest: Restore: no version " + resourceVersion + "; the present one is " + format(s.version))
	}
	for _, c := range s.collections {
		if version < c.history.oldest {
			panic("sourcetest: Restore: version " + resourceVersion + " was compacted")
		}
		c.history = c.history.restored(version)
	}
	s.version = version
	s.endWatchesLocked()
}

// Collection is the objects of one resource in all namespaces. A test changes them by its methods.
// [Serve] returns it.
//
// Objects are copied on their way in and out, and stored as they are read from JSON. The methods
// are the test's own hand: they store what they are given, status included, where the requests of
// clients have the rules of an API server. A Create of an object that exists, and an Update or
// Delete of one that doesn't, is a mistake of the test: it panics.
type Collection[T object.Object] struct {
	c *collection // set once at construction
}

// Serve adds a resource to server. Its objects have the type T, a pointer to a struct. kind ""
// means the name of that struct. fields are the paths that field selectors may name, such as
// "spec.nodeName", besides metadata.name and metadata.namespace. It panics if the resource is
// served already, or its version or name is empty.
func Serve[T object.Object](server *Server, resource schema.GroupVersionResource, kind string, fields ...string) *Collection[T] {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("sourcetest: Serve %v: %v is not a pointer to a struct", resource, t))
	}
	if resource.Version == "" || resource.Resource == "" {
		panic(fmt.Sprintf("sourcetest: Serve %q: version or resource is empty", resource))
	}
	if kind == "" {
		kind = t.Elem().Name()
	}
	return &Collection[T]{server.serve(resource, resource.GroupVersion().WithKind(kind), t.Elem(), fields)}
}

// WithoutStatus takes the status subresource away, which a resource has if its objects have a
// status: then clients write the status together with the rest, as with a CustomResourceDefinition
// that does not declare the subresource. Call it before the first request. It returns c.
func (c *Collection[T]) WithoutStatus() *Collection[T] {
	c.c.plain = true
	return c
}

// Create adds an object and returns it as it was stored, with uid, creationTimestamp,
// resourceVersion and generation, and a name if it had only a generateName. Its status is stored,
// too. It panics if the object has no name, or exists.
func (c *Collection[T]) Create(obj T) T { return c.c.create(obj).(T) }

// Update replaces an object and returns it as it was stored. obj needs no uid and no
// resourceVersion: there are no conflicts. uid, creationTimestamp and deletionTimestamp stay what
// they were. If the object is being deleted and obj has no finalizer any more, it is deleted. An
// update that changes nothing gets a new resourceVersion, too, for which an API server does
// nothing. The generation is raised as for a client's update, and not lowered. It panics if the
// object doesn't exist.
func (c *Collection[T]) Update(obj T) T { return c.c.update(obj).(T) }

// Delete removes an object and returns its last state, with the resourceVersion of the deletion. An
// object with finalizers is kept, with a deletionTimestamp, until an Update has removed them. It
// panics if the object doesn't exist.
func (c *Collection[T]) Delete(namespace, name string) T {
	return c.c.remove(object.Key{Namespace: namespace, Name: name}).(T)
}

// Get returns a copy of an object, and whether it exists.
func (c *Collection[T]) Get(namespace, name string) (obj T, ok bool) {
	c.c.server.mu.Lock()
	defer c.c.server.mu.Unlock()
	if obj := c.c.history.get(object.Key{Namespace: namespace, Name: name}); obj != nil {
		return obj.DeepCopyObject().(T), true
	}
	return obj, false
}

// All returns copies of all objects, in the order of lists.
func (c *Collection[T]) All() []T {
	c.c.server.mu.Lock()
	defer c.c.server.mu.Unlock()
	var all []T
	h := c.c.history
	for _, o := range h.newest() {
		all = append(all, h.objects[o.Version].DeepCopyObject().(T))
	}
	return all
}
