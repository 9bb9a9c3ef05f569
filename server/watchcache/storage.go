// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/watch"
)

// Storage is the source of a cache's objects. Versions grow with each change, and each belongs to
// one change.
//
// A cache calls List and Watch from one goroutine, one after the other.
//
// A Storage may have a third method, RequestProgress(ctx context.Context) error, which makes Watch
// emit a bookmark soon. The cache calls it ten times a second while requests wait for a version.
//
// A Storage whose versions can go back, as after restoring a backup, also has a method Newest(ctx
// context.Context) (uint64, error), returning its newest version. Unless the storage has gone back,
// that is no older than the version of any list or watch before. The cache calls it between two
// watches, and lists again if the version is older than its own.
type Storage interface {
	// List returns all objects, in any order, and the version of that state.
	List(ctx context.Context) ([]*Object, uint64, error)

	// Watch calls emit with each change after a version, in version order, and with bookmarks for
	// versions up to which all changes were sent. A version older than the previous one means the
	// storage has gone back. Watch returns when the stream ends, after long silence, when ctx ends,
	// or with emit's error. An [ExpiredError] means the storage no longer has the changes since
	// that version: the cache lists again. After nil or any other error, it watches again from its
	// current version.
	Watch(ctx context.Context, after uint64, emit func(Event) error) error
}

// Event is one event of a watch. Its parts are shared and must not be changed.
type Event struct {
	// Type is Added, Modified, Deleted or Bookmark.
	Type watch.EventType
	// Object is the object after the change, or, if it was deleted or left the selection, the last
	// state selected by the watch. It is nil in a bookmark.
	Object *Object
	// Version is the resourceVersion shown to the client: Object.Version, or, for deletions, the
	// change's version. In a bookmark it is the version up to which the client has everything.
	Version uint64
	// InitialEnd marks the bookmark that ends the initial events.
	InitialEnd bool
	// Frame is the event encoded by the watch's [Format]; nil without a format, and in a storage's
	// events.
	Frame []byte
}

// Errors of writes that the state of a storage doesn't allow.
var (
	ErrExists   = errors.New("the object exists")
	ErrNotFound = errors.New("the object does not exist")
	ErrConflict = errors.New("the object has been modified")
)

// Preconditions are conditions for changing an object. The zero value accepts any object.
type Preconditions struct {
	UID     string // "": any
	Version uint64 // 0: any
}

// Check returns an error that wraps [ErrConflict] if o doesn't meet the preconditions.
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
