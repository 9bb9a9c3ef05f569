// SPDX-License-Identifier: Apache-2.0

// Package decode turns the bodies of an API server's responses into objects and events.
//
// A [Codec] knows the type of a resource's objects. It opens a [Stream] for each response, which
// reads the response as a list or as a watch and hands over each item as soon as it is decoded:
//
//	response ─▶ feed: the bytes read, in pooled buffers
//	             │
//	             ▼
//	            formatReader (JSON, protobuf, CBOR): a line in formats
//	             │  scanner  finds where items end
//	             ▼  decoder  decodes them, by a fast decoder or a slow one
//	            Stream.run ┄ if much comes at once ┄ ahead: several goroutines decode
//	             │
//	             ▼
//	            listReader, watchReader: check items, in any format ─▶ the callback
//
// The package knows formats and objects. It knows no request: package source asks, and says what
// was wrong with which resource.
package decode

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Options describe the objects of a resource, and what is left out of them.
type Options struct {
	// Resource is the resource that responses are about.
	Resource schema.GroupVersionResource
	// Kind is the kind that the objects must have. "" means the name of the Go type; for types that
	// hold any kind, "" accepts the kind that the server sends.
	Kind string
	// DropManagedFields leaves metadata.managedFields out of objects.
	DropManagedFields bool
	// DropAnnotations are keys of metadata.annotations that are left out of objects.
	DropAnnotations []string
	// ShardSelector restricts the items to the objects of a shard; "" is everything.
	ShardSelector string
	// NewObject returns a new object at each call, always a pointer of the same type. Several
	// goroutines may call it at once.
	NewObject func() object.Object
}

// Promises is what the caller of a stream says about the objects.
type Promises struct {
	// ReadOnly means that the caller never changes objects, so that they may share parts.
	ReadOnly bool
	// Known, if not nil, returns an object that the caller already has, or nil.
	Known Known
}

// Known returns the object with exactly this key, uid and resourceVersion, or nil. Several
// goroutines may call it at once.
type Known func(key object.Key, uid types.UID, resourceVersion string) object.Object

// List is the metadata of a list.
type List struct {
	ResourceVersion string
	Continue        string
	Skipped         int // items that are not in the shard
}

// EventType is the type of a watch event. There is none for ERROR events, which are errors.
type EventType uint8

// The types of a watch event.
const (
	Added EventType = iota + 1
	Modified
	Deleted
	Bookmark
)

// String returns the name that the API server uses.
func (t EventType) String() string {
	if int(t) < len(eventNames) {
		return eventNames[t]
	}
	return eventNames[0]
}

// The reasons of an Error other than errors of the formats' decoders.
var (
	ErrWrongKind  = errors.New("wrong kind")
	ErrIncomplete = errors.New("incomplete")
	ErrMalformed  = errors.New("malformed")
)

// Error means that a response can't be used. It says where in the stream.
type Error struct {
	Item   int        // number of the item that is wrong, from 1; 0 is the list itself
	Offset int64      // where in the response the error was noticed
	Key    object.Key // of the object, as far as it could be read
	Err    error      // the reason
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BrokenError is an error of the connection.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string { return e.Err.Error() }
func (e *BrokenError) Unwrap() error { return e.Err }

// CallbackError carries a callback's error out of a stream untouched.
type CallbackError struct{ Err error }

func (e CallbackError) Error() string { return e.Err.Error() }
