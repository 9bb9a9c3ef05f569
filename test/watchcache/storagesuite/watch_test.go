// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// watcher is a watch of a store.
type watcher struct {
	events chan watch.Event
	stop   context.CancelFunc
}

// ResultChan implements [watch.Interface].
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// Stop implements [watch.Interface].
func (w *watcher) Stop() { w.stop() }

// send sends an event, unless ctx ends first.
func (w *watcher) send(ctx context.Context, e watch.Event) bool {
	select {
	case w.events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// unread is the capacity for undelivered events of a watch: more than the suites leave unread
// before they stop a watch.
const unread = 100

// Watch implements [storage.Interface]. The watch ends when ctx times out.
func (s *store) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	key, err := storage.PrepareKey(resource, key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	version, err := s.Versioner().ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	o := watchcache.WatchOptions{
		Filter:        filter(key, opts),
		After:         version,
		InitialEvents: version == 0,
		Bookmarks:     opts.Predicate.AllowWatchBookmarks || opts.ProgressNotify,
	}
	if opts.SendInitialEvents != nil {
		o.InitialEvents = *opts.SendInitialEvents
	}
	if deadline, ok := ctx.Deadline(); ok {
		o.Timeout = max(time.Until(deadline), time.Nanosecond)
	}
	if err := s.prepare(ctx, opts.ResourceVersion == "" || opts.ProgressNotify, 0); err != nil {
		return nil, err
	}
	opened, err := s.openWatch(ctx, o)
	if err != nil && !errors.As(err, new(*watchcache.ExpiredError)) {
		return nil, suiteError(err)
	}
	utilflowcontrol.WatchInitialized(ctx)

	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{make(chan watch.Event, unread), cancel}
	forget := context.AfterFunc(s.ended, cancel)
	s.watches.Go(func() {
		defer close(w.events)
		defer forget()
		defer cancel()
		if err == nil {
			defer opened.Close()
			err = s.forward(ctx, opened, w)
		}
		if errors.As(err, new(*watchcache.ExpiredError)) {
			w.send(ctx, failure(err))
		}
	})
	return w, nil
}

// openWatch starts a watch of the cache unless the history since its version is compacted.
func (s *store) openWatch(ctx context.Context, o watchcache.WatchOptions) (*watchcache.Watcher, error) {
	if oldest := s.compacted.Load(); !o.InitialEvents && o.After != 0 && o.After < oldest {
		return nil, &watchcache.ExpiredError{Version: o.After, Oldest: oldest}
	}
	return s.cache.Watch(ctx, o)
}

// forward sends the events of a watch until the watch or ctx ends, or a pod is unreadable.
func (s *store) forward(ctx context.Context, from *watchcache.Watcher, to *watcher) error {
	for {
		events, err := from.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			event := s.event(ctx, e)
			if !to.send(ctx, event) || event.Type == watch.Error {
				return nil
			}
		}
	}
}

// event converts an event of the cache to an event of a pod.
func (s *store) event(ctx context.Context, e watchcache.Event) watch.Event {
	pod := &example.Pod{}
	err := s.Versioner().UpdateObject(pod, e.Version)
	switch {
	case e.Object != nil:
		err = s.read(ctx, e.Object, e.Version, pod)
	case e.InitialEnd:
		pod.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	switch {
	case err != nil && e.Type == watch.Deleted:
		return failure(&unreadableError{err})
	case err != nil:
		return failure(err)
	}
	return watch.Event{Type: e.Type, Object: pod}
}

// unreadableError means that an unreadable pod was deleted.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string {
	return fmt.Sprintf("saw a DELETED event, but object data is corrupt - %v", e.err)
}

func (e *unreadableError) Unwrap() error { return e.err }

// failure returns the last event of a watch for an error.
func failure(err error) watch.Event {
	status := apierrors.NewInternalError(err)
	switch {
	case errors.As(err, new(*watchcache.ExpiredError)):
		status = apierrors.NewResourceExpired(err.Error())
	case errors.As(err, new(*unreadableError)):
		status.ErrStatus.Reason, status.ErrStatus.Message = metav1.StatusReasonStoreReadError, err.Error()
	}
	return watch.Event{Type: watch.Error, Object: &status.ErrStatus}
}
