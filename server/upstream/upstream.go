// SPDX-License-Identifier: Apache-2.0

// Package upstream is the storage of a watch cache that is a collection of an API server.
//
// A [Storage] starts no goroutine: its methods send requests, and block until they have read the
// answers, on the goroutine that calls them. A request to which nothing comes for three minutes
// fails. An open watch ends then: the connection is dead, nothing has changed, or the server was
// restored from a backup. [Storage.Newest] tells a cache which, before it watches again.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/internal/fieldpath"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// pageSize is how many objects are asked for at a time.
const pageSize = 500

// leastTimeout is how long a watch lasts at least, if the server lets it. At most it lasts twice as
// long, so that the watches of many resources don't end at once.
const leastTimeout = 5 * time.Minute

// mostSilence is how long nothing may come from the server. It sends a bookmark a minute, about, if
// anything has changed.
const mostSilence = 3 * time.Minute

var errSilent = fmt.Errorf("nothing has come from the API server for %v", mostSilence)

// listener ends a context when nothing is heard for too long.
type listener struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// listen returns a context that ends with errSilent, and its listener, which must be stopped.
func listen(ctx context.Context) (context.Context, *listener) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &listener{time.AfterFunc(mostSilence, func() { cancel(errSilent) }), cancel}
}

func (l *listener) heard() { l.timer.Reset(mostSilence) }

func (l *listener) stop() {
	l.timer.Stop()
	l.cancel(nil)
}

// reason returns why a request has failed whose context is a listener's: that it was silent,
// whatever error it has returned.
func reason(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// Options describe the collection. With Kind alone, it is all objects of the resource.
type Options struct {
	// Namespace is the only one to read; "" means all.
	Namespace string
	// LabelSelector and FieldSelector are in the forms that API servers read; "" selects
	// everything.
	LabelSelector, FieldSelector string
	// Kind is the kind of the objects. It must be set.
	Kind string
	// Fields are the declared fields, such as "spec.nodeName", by which clients of the cache may
	// select.
	Fields []string
	// Drop are paths to what is cut out of objects before they are kept, so that no client gets
	// it: .metadata.managedFields, .metadata.annotations["example.com/note"], .spec.template. A
	// path leads through objects, not into lists. Clients may select by fields that are dropped.
	Drop []string
	// Protobuf makes the storage ask for objects in protobuf, and keep them so, if it isn't nil:
	// for built-in kinds. It must have the declared fields and what to drop, but for metadata; see
	// [protobuf.BuiltIn]. By default objects are JSON.
	Protobuf protobuf.Schema
}

// CheckDrop returns the error with which [New] would fail because of a path in Options.Drop, or
// nil.
func CheckDrop(path string) error {
	_, err := fieldpath.Parse(path)
	return err
}

// Storage reads a collection of an API server. It implements [watchcache.Storage].
type Storage struct {
	source *source.HTTP[*item] // set once at construction
}

// New returns the storage of a resource's collection. It sends no request. It fails if Kind is
// empty, if a path in Drop has another form or leads to what a cache needs, if Protobuf lacks a
// path, and as [source.New] does.
func New(client *source.Client, resource schema.GroupVersionResource, opts Options) (*Storage, error) {
	if opts.Kind == "" {
		return nil, fmt.Errorf("upstream.New of %s: Options.Kind is empty; set it to the kind of the objects, such as Pod", resource)
	}
	format := source.JSON
	read, err := readJSON(resource, opts)
	if opts.Protobuf != nil {
		format = source.Protobuf
		read, err = readProtobuf(opts)
	}
	if err != nil {
		return nil, fmt.Errorf("upstream.New of %s: %w", resource, err)
	}
	src, err := source.New[*item](client, resource, source.Options{
		Namespace:     opts.Namespace,
		LabelSelector: opts.LabelSelector,
		FieldSelector: opts.FieldSelector,
		Kind:          opts.Kind,
		Formats:       []source.Format{format},
		NewObject:     func() object.Object { return &item{read: read} },
	})
	if err != nil {
		return nil, fmt.Errorf("upstream.New: %w", err)
	}
	return &Storage{src}, nil
}

// List reads the collection in pages. If its version expires before the last page, it is read again
// as a whole.
func (s *Storage) List(ctx context.Context) (objects []*watchcache.Object, version uint64, err error) {
	ctx, listener := listen(ctx)
	defer listener.stop()
	take := func(i *item) error {
		listener.heard()
		objects = append(objects, i.object)
		return nil
	}
	opts := source.ListOptions{Limit: pageSize}
	for {
		page, err := s.source.List(ctx, opts, take)
		switch {
		case err != nil && opts.Continue != "" && apierrors.IsResourceExpired(err):
			objects, opts = nil, source.ListOptions{}
		case err != nil:
			return nil, 0, reason(ctx, err)
		case page.Continue != "":
			opts.Continue = page.Continue
		default:
			version, err := parseVersion(page.ResourceVersion)
			return objects, version, err
		}
	}
}

// Watch watches the collection until the server ends the watch, which it is asked to do after some
// minutes. The error is a [watchcache.ExpiredError] if the server does not have the changes since
// the version any more.
func (s *Storage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	opts := source.WatchOptions{
		ResourceVersion: strconv.FormatUint(after, 10),
		Timeout:         leastTimeout + rand.N(leastTimeout),
	}
	ctx, listener := listen(ctx)
	defer listener.stop()
	opened := false
	err := s.source.Watch(ctx, opts, func() { opened = true }, func(e source.Event[*item]) error {
		listener.heard()
		version, err := parseVersion(e.ResourceVersion)
		if err != nil {
			return err
		}
		after = version
		event := watchcache.Event{Type: watch.EventType(e.Type.String()), Version: version}
		if e.Object != nil {
			event.Object = e.Object.object
		}
		return emit(event)
	})
	switch err = reason(ctx, err); {
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		return &watchcache.ExpiredError{Version: after}
	case opened && errors.Is(err, errSilent): // maybe nothing has changed; Newest shows
		return nil
	}
	return err
}

// Newest returns the version at which the server is, by a list of one object. A cache asks for it
// before it watches again, since API servers accept a watch from a version of the future, and are
// silent.
func (s *Storage) Newest(ctx context.Context) (uint64, error) {
	ctx, listener := listen(ctx)
	defer listener.stop()
	page, err := s.source.List(ctx, source.ListOptions{Limit: 1, VersionOnly: true}, func(*item) error { return nil })
	if err != nil {
		return 0, reason(ctx, err)
	}
	return parseVersion(page.ResourceVersion)
}

// parseVersion reads a resourceVersion of the server. KEP-5504 promises that it is a number.
func parseVersion(text string) (uint64, error) {
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the API server's resourceVersion %q is no number", text)
	}
	return version, nil
}
