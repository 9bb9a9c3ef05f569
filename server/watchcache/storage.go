// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/watch"
)

// Storage is where a cache has its objects from: one resource of an API server, a prefix of etcd,
// or memory. Versions are those of the storage. They grow with each change and belong to one change
// each.
//
// A cache calls List and Watch from one goroutine, one after the other.
//
// A Storage may have a third method, RequestProgress(ctx context.Context) error, which makes its
// Watch emit a bookmark soon. The cache calls it ten times a second while requests wait for a
// version, since the storage may have reached that by changes of other objects.
//
// A Storage whose versions may go back, as those of a restored backup do, has a method
// Newest(ctx context.Context) (uint64, error), which returns its newest version. That is never
// older than one that a list or a watch has had before, unless the storage has gone back. The cache
// calls it between two watches, and lists again if the version is older than its own. If Newest
// fails, the cache watches nevertheless.
type Storage interface {
	// List returns all objects, in any order, and the version at which they are all there is.
	List(ctx context.Context) ([]*Object, uint64, error)

	// Watch calls emit with each change after a version, in the order of their versions, and with
	// bookmarks for versions up to which there is nothing more to come. An older version than the
	// one before means that the storage has gone back. It returns when the stream ends, when it has
	// been silent for long, when ctx ends, or with emit's error. An [ExpiredError] means that
	// the storage no longer has the changes since that version: then the cache lists again. After
	// any other error, and after nil, it watches again from where it is.
	Watch(ctx context.Context, after uint64, emit func(Event) error) error
}

// Event is one event of a watch. All its parts are shared and must not be changed.
type Event struct {
	// Type is Added, Modified, Deleted or Bookmark.
	Type watch.EventType
	// Object is the object after the change, or the last one that the watch has selected if it was
	// deleted or has left the selection. It is nil in a bookmark.
	Object *Object
	// Version is the resourceVersion that the client is to see in the event. It is Object.Version,
	// except for deletions, whose version is that of the change. In a bookmark it is the version up
	// to which the client has everything.
	Version uint64
	// InitialEnd marks the bookmark that ends the initial events.
	InitialEnd bool
	// Frame is the event as the [Format] of the watch writes it; nil if the watch has none, and in
	// a storage's events.
	Frame []byte
}

// The errors of writes that the state of a storage doesn't allow.
var (
	ErrExists   = errors.New("the object exists")
	ErrNotFound = errors.New("the object does not exist")
	ErrConflict = errors.New("the object has been modified")
)

// Preconditions are what an object must have to be changed. The zero value is any object.
type Preconditions struct {
	UID     string // "": any
	Version uint64 // 0: any
}

// Check returns an error that wraps [ErrConflict] if o is not as the preconditions want it.
func (p Preconditions) Check(o *Object) error {
	switch {
	case p.UID != "" && p.UID != o.UID:
		return fmt.Errorf("%w: its uid is %s, not %s", ErrConflict, o.UID, p.UID)
	case p.Version != 0 && p.Version != o.Version:
		return fmt.Errorf("%w: its resourceVersion is %d, not %d", ErrConflict, o.Version, p.Version)
	}
	return nil
}

const (
	added    = watch.Added
	modified = watch.Modified
	deleted  = watch.Deleted
	bookmark = watch.Bookmark
)
