// SPDX-License-Identifier: Apache-2.0

// Package decode turns the bodies of an API server's responses into objects and events.
//
// A [Codec] knows the type of a resource's objects. It opens a [Stream] for each response, which
// reads the response as a list or as a watch and hands over each item as soon as it is decoded:
//
//	response ─▶ feed: the bytes read, in pooled buffers
//	             │
//	             ▼
//	            formatReader (JSON, protobuf): a line in formats
//	             │  scanner  finds where items end
//	             ▼  decoder  decodes them, by a fast decoder or a slow one
//	            Stream.run: decodes the arrived items, and reads more
//	             │
//	             ▼
//	            listReader, watchReader: check items, in any format ─▶ the callback
//
// A Stream reads, decodes and calls back on the goroutine that calls List or Watch, one call at a
// time, in the order of the response.
//
// The package knows formats and objects, but no requests: package source sends them, and adds the
// requested resource to each error.
package decode

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Options describe the objects of a resource.
type Options struct {
	// Resource is the resource of the responses.
	Resource schema.GroupVersionResource
	// Kind is the required kind. "" means the name of the Go type; for types that hold any kind,
	// and for projections, "" accepts the server's kind.
	Kind string
	// DropManagedFields leaves metadata.managedFields out of objects.
	DropManagedFields bool
	// DropAnnotations are keys of metadata.annotations to leave out of objects.
	DropAnnotations []string
	// ShardSelector restricts the items to the objects of a shard; "" is everything.
	ShardSelector string
	// NewObject returns a new object at each call, always a pointer of the same type. It may be
	// called concurrently.
	NewObject func() object.Object
}

// Promises are made by the caller of a stream about its objects.
type Promises struct {
	// ReadOnly means that the caller never changes objects, so they may share parts.
	ReadOnly bool
	// Known, if not nil, returns an object of the caller, or nil.
	Known Known
	// Keep, if not nil, selects objects by their metadata.
	Keep func(object.Meta) bool
	// KeepByController means that Keep needs Meta.Controller, which may be nil otherwise.
	KeepByController bool
	// Skipped, if not nil, is called for each object of a list, and for each initial event of a
	// watch, that is not kept or not in a shard.
	Skipped func()
	// Shard restricts the items, in addition to that of the codec; nil is everything.
	Shard *shard.Shard
	// Initial means that a watch begins with initial events, and a bookmark ends them.
	Initial bool
	// Unordered means that the versions of a watch's events are in no order until the first
	// bookmark, as those of initial events.
	Unordered bool
}

// Known returns the object with exactly this key, uid and resourceVersion, or nil. It is called on
// the stream's goroutine.
type Known func(key object.Key, uid types.UID, resourceVersion string) object.Object

// Codec holds the type of a resource's objects and the decoders of each format. The streams of a
// source share it, and so do sources that differ only in their namespaces. It is safe for
// concurrent use.
type Codec struct {
	// Set once at construction.
	gvr              schema.GroupVersionResource
	apiVersion       string // of gvr
	kind             string // the expected kind; "" accepts the server's
	objectAPIVersion string // the apiVersion of objects, shared by all of them
	metadataOnly     bool   // objects are *metav1.PartialObjectMetadata, requested as such
	untyped          bool   // objects hold their content as a map
	projection       bool   // objects have only some fields of their kind
	protobuf         bool   // objects can be decoded from protobuf
	drop             dropped.Parts
	shard            *shard.Shard
	newObject        func() object.Object
	elem             reflect.Type // the type that objects point to
	// new objects are zero values of elem, as needed by the fast decoders
	newIsZero bool
	// needsSlowJSON reports whether sigs.k8s.io/json decodes the JSON that the fast decoder
	// declines. It runs when first needed, because it takes long.
	needsSlowJSON func() bool
	sizes         bufferSizes

	// The atomics synchronize themselves.
	pools       decoderPools
	warned      atomic.Bool            // the change of a shared part was logged
	learnedKind atomic.Pointer[string] // the kind learned, if kind is ""
}

// New returns the codec of the objects described by opts. It fails if NewObject returns nil or
// something other than a pointer, and if ShardSelector is invalid.
func New(opts Options) (*Codec, error) {
	sample := opts.NewObject()
	if sample == nil || reflect.TypeOf(sample).Kind() != reflect.Pointer || reflect.ValueOf(sample).IsNil() {
		return nil, fmt.Errorf("NewObject returns %T; it must return a pointer to a new object, such as &v1.Pod{}", sample)
	}
	c := &Codec{
		gvr:        opts.Resource,
		apiVersion: opts.Resource.GroupVersion().String(),
		kind:       opts.Kind,
		drop:       dropped.New(opts.DropManagedFields, opts.DropAnnotations),
		newObject:  opts.NewObject,
		elem:       reflect.TypeOf(sample).Elem(),
		newIsZero:  reflect.ValueOf(sample).Elem().IsZero(),
		sizes:      defaultSizes,
		pools:      newDecoderPools(),
	}
	var err error
	if c.shard, err = shard.Parse(opts.ShardSelector); err != nil {
		return nil, err
	}
	_, c.untyped = sample.(runtime.Unstructured)
	_, c.metadataOnly = sample.(*metav1.PartialObjectMetadata)
	if c.projection = gotype.IsProjection(c.elem); c.projection {
		c.protobuf = c.isProtobufProjection()
	} else {
		c.protobuf = isProtobuf(sample)
	}
	c.objectAPIVersion = c.apiVersion
	switch {
	case c.metadataOnly && c.kind == "":
		c.objectAPIVersion = metadataAPIVersion
	case c.kind == "" && !c.untyped && !c.projection && !strings.Contains(c.elem.Name(), "["):
		c.kind = c.elem.Name()
	}
	c.needsSlowJSON = sync.OnceValue(func() bool { return isExotic(c.elem, map[reflect.Type]bool{}) })
	return c, nil
}

// Type returns the type of the objects, a pointer.
func (c *Codec) Type() reflect.Type { return reflect.PointerTo(c.elem) }

// Has reports whether the objects can be decoded from a format.
func (c *Codec) Has(f Format) bool { return f.Exists() && (f != Protobuf || c.protobuf) }

// SentAs returns the kind of meta.k8s.io/v1 to request from a server for the items of a list or of
// a watch; "" means no conversion.
func (c *Codec) SentAs(list bool) string {
	switch {
	case !c.metadataOnly:
		return ""
	case list:
		return metadataListKind
	}
	return metadataKind
}

// Open begins to read a response in a format. It reads nothing yet.
//
// If a shared part was changed, some of the caller's objects differ from the server's. So from then
// on Known is not called. This is logged, once.
func (c *Codec) Open(ctx context.Context, body io.ReadCloser, f Format, promises Promises) *Stream {
	s := newStream(ctx, c, body, f)
	s.setPromises(ctx, promises)
	return s
}
