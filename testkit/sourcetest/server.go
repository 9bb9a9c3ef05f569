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

// Server is an API server in memory. Make one with [New]. Its methods, and its collections', are
// safe for concurrent use, also from the functions of a Fault, except Match.
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
	// servers. With a negative value, only Server.Bookmark sends them (and the end of initial
	// events). Set it before the first request.
	BookmarkInterval time.Duration
	// MediaTypes are the supported formats, JSON or Protobuf; nil means both. Set it before the
	// first request.
	MediaTypes []string
	// Patches supports strategic merge patches and server-side apply: set it to patches.All of
	// package sourcetest/patches. If it is nil, both are refused. Set it before the first request.
	Patches patcher

	mu          sync.Mutex // mu guards the fields below, and the content of all collections
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

// Formats for Server.MediaTypes.
const (
	JSON     = "application/json"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// New returns a server without resources. It starts nothing.
func New() *Server {
	return &Server{version: 1, collections: map[schema.GroupVersionResource]*collection{}}
}

// Config returns a configuration for clients that reach the server in memory, without a socket or a
// rate limit: QPS is -1.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://sourcetest.invalid", Transport: s, QPS: -1}
}

// Requests returns all requests in the order of arrival, including those answered by a fault.
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

// Compact makes the server forget all versions before the present one: watches and lists at them
// are answered with 410, while open watches go on. It frees no memory: a server keeps everything
// ever written.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		c.history.oldest = s.version
	}
}

// Bookmark sends a bookmark of the present version in every open watch that allows bookmarks.
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

// Restore puts the server back to an earlier version, like an API server restored from a backup:
// later writes are undone, their versions will be used again, and open watches end. It panics if
// the version is not in the history.
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

// Collection holds the objects of one resource in all namespaces, for a test to change. [Serve]
// returns it.
//
// Objects are copied on their way in and out, and stored in the form read from their JSON. The
// methods store objects as given, status included, while clients' requests follow an API server's
// rules. Creating an object that exists, and updating or deleting one that doesn't, is a mistake in
// the test: it panics.
type Collection[T object.Object] struct {
	c *collection // set once at construction
}

// Serve adds a resource to server. Its objects have the type T, a pointer to a struct; an empty
// kind means the struct's name. fields are the paths for field selectors, such as "spec.nodeName",
// besides metadata.name and metadata.namespace. It panics if the resource is served already, or its
// version or name is empty.
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

// WithoutStatus removes the status subresource of objects that have a status: clients then write
// the status together with the rest, as with a CustomResourceDefinition that doesn't declare the
// subresource. Call it before the first request. It returns c.
func (c *Collection[T]) WithoutStatus() *Collection[T] {
	c.c.withoutStatus = true
	return c
}

// Create adds an object and returns it as stored, with uid, creationTimestamp, resourceVersion and
// generation, and a name if it had only a generateName. It panics if the object has no name, or
// exists.
func (c *Collection[T]) Create(obj T) T { return c.c.create(obj).(T) }

// Update replaces an object and returns it as stored. obj needs no uid and no resourceVersion:
// there are no conflicts. uid, creationTimestamp and deletionTimestamp don't change. If the object
// is being deleted and obj has no finalizer any more, it is deleted. Unlike in an API server, an
// update without a change gets a new resourceVersion, too. The generation is raised as for a
// client's update, and never lowered. It panics if the object doesn't exist.
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

// All returns copies of all objects, in list order.
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
