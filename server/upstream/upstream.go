// SPDX-License-Identifier: Apache-2.0

// Package upstream is a watch cache's storage over a collection of an API server.
//
// A [Storage] starts no goroutine: its methods send requests, and block until they have read the
// answers, on the caller's goroutine. A request fails after three minutes of silence. A watch then
// ends because the connection is dead, nothing has changed, or the server was restored from a
// backup. A cache calls [Storage.Newest] to find out which, before it watches again.
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

const pageSize = 500

// minWatchTimeout is the minimum duration of a watch, if the server permits it. The maximum is
// twice that, so that the watches of many resources don't end at once.
const minWatchTimeout = 5 * time.Minute

// silenceTimeout is how long the server may be silent. It sends a bookmark about once a minute if
// anything has changed.
const silenceTimeout = 3 * time.Minute

var errSilent = fmt.Errorf("the API server has sent nothing for %v", silenceTimeout)

type silenceTimer struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// withSilenceTimer returns a context that ends with errSilent, and its timer, which must be
// stopped.
func withSilenceTimer(ctx context.Context) (context.Context, *silenceTimer) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &silenceTimer{time.AfterFunc(silenceTimeout, func() { cancel(errSilent) }), cancel}
}

func (l *silenceTimer) reset() { l.timer.Reset(silenceTimeout) }

func (l *silenceTimer) stop() {
	l.timer.Stop()
	l.cancel(nil)
}

// requestError returns errSilent if the silenceTimer has ended the request, and otherwise err.
func requestError(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// Options describe the collection.
type Options struct {
	// Namespace is the only namespace to read; "" means all.
	Namespace string
	// LabelSelector and FieldSelector have an API server's syntax; "" selects everything.
	LabelSelector, FieldSelector string
	// Kind is the kind of the objects. It must be set.
	Kind string
	// Fields are the declared fields, such as "spec.nodeName", which the cache's clients may select
	// by.
	Fields []string
	// Drop are paths of parts to cut out of objects before they are kept: .metadata.managedFields,
	// .metadata.annotations["example.com/note"], .spec.template. A path leads through objects, not
	// into lists. Clients may still select by dropped fields.
	Drop []string
	// Protobuf, if not nil, makes the storage request and keep objects in protobuf: for built-in
	// kinds. It must have the declared fields and the paths in Drop, except in metadata; see
	// [protobuf.BuiltIn]. By default objects are JSON.
	Protobuf protobuf.Schema
}

// CheckDrop returns [New]'s error for a path in Options.Drop, or nil.
func CheckDrop(path string) error {
	_, err := fieldpath.Parse(path)
	return err
}

// Storage reads a collection of an API server.
type Storage struct {
	source *source.HTTP[*item] // set once at construction
}

// New returns the storage of a resource's collection. It sends no request. It fails if Kind is
// empty, if a path in Drop is malformed or needed by a cache, if Protobuf lacks a path, or if
// [source.New] fails.
func New(client *source.Client, resource schema.GroupVersionResource, opts Options) (*Storage, error) {
	if opts.Kind == "" {
		return nil, fmt.Errorf("upstream.New of %s: Options.Kind is empty; set it to the kind of the objects, such as Pod", resource)
	}
	format := source.JSON
	reader, err := jsonReader(resource, opts)
	if opts.Protobuf != nil {
		format = source.Protobuf
		reader, err = protobufReader(opts)
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
		NewObject:     func() object.Object { return &item{reader: reader} },
	})
	if err != nil {
		return nil, fmt.Errorf("upstream.New: %w", err)
	}
	return &Storage{src}, nil
}

// List reads the collection in pages. If its version expires before the last page, List starts
// over.
func (s *Storage) List(ctx context.Context) (objects []*watchcache.Object, version uint64, err error) {
	ctx, silence := withSilenceTimer(ctx)
	defer silence.stop()
	add := func(i *item) error {
		silence.reset()
		objects = append(objects, i.object)
		return nil
	}
	opts := source.ListOptions{Limit: pageSize}
	for {
		page, err := s.source.List(ctx, opts, add)
		switch {
		case err != nil && opts.Continue != "" && apierrors.IsResourceExpired(err):
			objects, opts = nil, source.ListOptions{}
		case err != nil:
			return nil, 0, requestError(ctx, err)
		case page.Continue != "":
			opts.Continue = page.Continue
		default:
			version, err := parseVersion(page.ResourceVersion)
			return objects, version, err
		}
	}
}

// Watch watches the collection until the server ends the watch, as requested, after some minutes.
// The error is a [watchcache.ExpiredError] if the server no longer has the changes since the
// version.
func (s *Storage) Watch(ctx context.Context, after uint64, emit func(watchcache.Event) error) error {
	opts := source.WatchOptions{
		ResourceVersion: strconv.FormatUint(after, 10),
		Timeout:         minWatchTimeout + rand.N(minWatchTimeout),
	}
	ctx, silence := withSilenceTimer(ctx)
	defer silence.stop()
	opened := false
	err := s.source.Watch(ctx, opts, func() { opened = true }, func(e source.Event[*item]) error {
		silence.reset()
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
	switch err = requestError(ctx, err); {
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		return &watchcache.ExpiredError{Version: after}
	case opened && errors.Is(err, errSilent): // maybe nothing has changed; Newest shows
		return nil
	}
	return err
}

// Newest returns the server's version, by a list of one object. A cache calls it before it watches
// again, since API servers accept a watch from a future version, and send nothing.
func (s *Storage) Newest(ctx context.Context) (uint64, error) {
	ctx, silence := withSilenceTimer(ctx)
	defer silence.stop()
	page, err := s.source.List(ctx, source.ListOptions{Limit: 1, VersionOnly: true}, func(*item) error { return nil })
	if err != nil {
		return 0, requestError(ctx, err)
	}
	return parseVersion(page.ResourceVersion)
}

// parseVersion reads a resourceVersion of the server: a number, as KEP-5504 promises.
func parseVersion(text string) (uint64, error) {
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the API server's resourceVersion %q is not a number", text)
	}
	return version, nil
}
