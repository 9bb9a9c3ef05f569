// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// NewSource returns a Source of the objects that lw lists and watches, for any client, fakes too.
// Objects decoded by the client share no parts, and a list is held as a whole while it is read. So
// for an API server, prefer a source.HTTP.
//
// A watch-list fails with errors.ErrUnsupported if the feature gate WatchListClient of client-go is
// off, if lw reports that it does not support them, as fakes do, and if lw has never brought a
// watch-list to its end and fails with an error that comes neither from an API server nor from a
// connection.
//
// List waits for a lw that ignores its context. Watch, after it has stopped a watch, drops events
// until the watch has closed its channel.
func NewSource(lw cache.ListerWatcher) source.Source[object.Object] { return newSource(lw, nil) }

// newSource is NewSource. If example is not nil, it reports and drops watch events with objects of
// another type.
func newSource(lw cache.ListerWatcher, example runtime.Object) source.Source[object.Object] {
	s := listerWatcher{watchLists: supportsWatchLists(lw), streamed: new(atomic.Bool), fake: isFake(lw), example: example}
	if u, ok := example.(*unstructured.Unstructured); ok {
		s.kind = u.GroupVersionKind()
	}
	if lw != nil {
		s.client = cache.ToListerWatcherWithContext(lw)
	}
	return s
}

type listerWatcher struct {
	client     cache.ListerWatcherWithContext // nil if there is none
	watchLists bool
	streamed   *atomic.Bool            // a watch-list came to its end
	fake       bool                    // versions of objects are not versions of the list
	example    runtime.Object          // nil if any objects may come
	kind       schema.GroupVersionKind // of an unstructured example; empty if any may come
}

func supportsWatchLists(lw cache.ListerWatcher) bool {
	return features.FeatureGates().Enabled(features.WatchListClient) && !isFake(lw)
}

// isFake reports whether lw declares that it doesn't support watch-lists, as client-go's fakes do
// from v0.35 on. Package watchlist has a function for that, which older versions lack.
func isFake(lw cache.ListerWatcher) bool {
	client, ok := lw.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && client.IsWatchListSemanticsUnSupported()
}

var errNoClient = errors.New("the ListerWatcher is nil")

func (s listerWatcher) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	if s.client == nil {
		return source.ListResult{}, errNoClient
	}
	list, err := s.client.ListWithContext(ctx, metav1.ListOptions{
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatch(opts.ResourceVersionMatch),
		Limit:                opts.Limit,
		Continue:             opts.Continue,
	})
	if ctx.Err() != nil {
		return source.ListResult{}, context.Cause(ctx)
	}
	if err != nil {
		return source.ListResult{}, err
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return source.ListResult{}, fmt.Errorf("the ListerWatcher returned a %T, which is no list: %w", list, err)
	}
	result := source.ListResult{ResourceVersion: about.GetResourceVersion(), Continue: about.GetContinue()}
	if opts.VersionOnly {
		return result, nil
	}
	// with copies, because a pointer to an item would keep the whole list
	return result, meta.EachListItemWithAlloc(list, func(obj runtime.Object) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o, err := objectOf(obj)
		if err != nil {
			return err
		}
		return item(o)
	})
}

func (s listerWatcher) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	switch {
	case s.client == nil:
		return errNoClient
	case opts.SendInitialEvents && !s.watchLists:
		return fmt.Errorf("%w: the ListerWatcher does not support them, or client-go's feature gate WatchListClient is off", errors.ErrUnsupported)
	}
	options := metav1.ListOptions{ResourceVersion: opts.ResourceVersion, AllowWatchBookmarks: true}
	if seconds := int64(opts.Timeout.Seconds()); seconds > 0 {
		options.TimeoutSeconds = &seconds
	}
	if opts.SendInitialEvents {
		options.SendInitialEvents = &opts.SendInitialEvents
		options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	w, err := s.client.WatchWithContext(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if opts.SendInitialEvents && !s.streamed.Load() && isUnexpected(err) {
			return fmt.Errorf("%w: the ListerWatcher failed to open one: %w", errors.ErrUnsupported, err)
		}
		return err
	}
	defer func() {
		w.Stop()
		for range w.ResultChan() {
			// A filter in front of the watch ends only if it is read to the end.
		}
	}()
	if opened != nil {
		opened()
	}
	reader := eventReader{version: opts.ResourceVersion, fake: s.fake}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil
			}
			if s.hasOtherType(e) {
				err := fmt.Errorf("the ListerWatcher sent a %s in an event %s of a watch for %s", describe(e.Object), e.Type, describe(s.example))
				utilruntime.HandleErrorWithContext(ctx, err, "Dropped an event of a watch")
				continue
			}
			next, err := reader.read(e)
			if err != nil {
				return err
			}
			if next.InitialEventsEnd {
				s.streamed.Store(true)
			}
			next.More = len(w.ResultChan()) > 0
			if err := event(next); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
}

// isUnexpected reports whether err comes neither from an API server nor from a connection, so that
// waiting would hardly help.
func isUnexpected(err error) bool {
	var api apierrors.APIStatus
	var network net.Error // *url.Error and syscall.Errno, too
	return !errors.As(err, &api) && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// hasOtherType reports whether an event's object is of another type than the example; if that is
// unstructured, of another apiVersion or kind.
func (s listerWatcher) hasOtherType(e watch.Event) bool {
	if s.example == nil || e.Type == watch.Error {
		return false
	}
	if reflect.TypeOf(e.Object) != reflect.TypeOf(s.example) {
		return true
	}
	return !s.kind.Empty() && s.kind != e.Object.GetObjectKind().GroupVersionKind()
}

type eventReader struct {
	version string // of the last event that had one
	fake    bool
}

func (r *eventReader) read(e watch.Event) (source.Event[object.Object], error) {
	var event source.Event[object.Object]
	switch e.Type {
	case watch.Added:
		event.Type = source.Added
	case watch.Modified:
		event.Type = source.Modified
	case watch.Deleted:
		event.Type = source.Deleted
	case watch.Bookmark:
		event.Type = source.Bookmark
	case watch.Error:
		return event, apierrors.FromObject(e.Object)
	default:
		return event, fmt.Errorf("%w: the ListerWatcher sent an event of type %q", source.ErrMalformed, e.Type)
	}
	obj, err := objectOf(e.Object)
	if err != nil {
		return event, err
	}
	// Objects of a fake may have no version, or any given by a test.
	if version := obj.GetResourceVersion(); version != "" && version != "0" && !r.fake {
		r.version = version
	}
	event.ResourceVersion = r.version
	if event.Type == source.Bookmark {
		event.InitialEventsEnd = obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
	} else {
		event.Object = obj
	}
	return event, nil
}

func objectOf(obj runtime.Object) (object.Object, error) {
	if o, ok := obj.(object.Object); ok {
		return o, nil
	}
	return nil, fmt.Errorf("%w: the ListerWatcher sent a %T, which is no object with metadata", source.ErrWrongKind, obj)
}
