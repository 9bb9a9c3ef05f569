// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

var theirIndexes = []cache.Indexers{
	{"ByTier": func(o any) ([]string, error) { return []string{o.(*corev1.ConfigMap).Labels["tier"]}, nil }},
	{"ByWord": func(o any) ([]string, error) { return strings.Fields(o.(*corev1.ConfigMap).Data["words"]), nil }},
	{"BySize": func(o any) ([]string, error) {
		return []string{strings.Repeat("x", len(o.(*corev1.ConfigMap).Data["words"]))}, nil
	}},
}

// theirs is client-go's informer and its handlers. The informer can't run again, so each start
// makes a new one with equal handlers.
type theirs struct {
	*client
	problems *problemList
	stream   bool // asks for watch-lists
	informer cache.SharedIndexInformer
	handlers []*theirHandler
	indexes  []bool

	cancel context.CancelFunc // nil while stopped
	ended  chan struct{}
}

func newTheirs(c *client, problems *problemList, stream bool) *theirs {
	return &theirs{client: c, problems: problems, stream: stream, indexes: make([]bool, len(theirIndexes))}
}

func (o *theirs) start(ctx context.Context) {
	o.model.reset()
	o.informer = cache.NewSharedIndexInformer(&listerWatcher{o.client, !o.stream}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	for n, added := range o.indexes {
		if added {
			o.addIndex(n)
		}
	}
	again := o.handlers
	o.handlers = nil
	for _, h := range again {
		o.add(h.name, h.delay)
	}
	ctx, o.cancel = context.WithCancel(ctx)
	o.ended = make(chan struct{})
	go func() {
		defer close(o.ended)
		o.informer.RunWithContext(ctx)
	}()
}

func (o *theirs) stop() {
	o.cancel()
	<-o.ended
	synctest.Wait() // its watch feeds the model for a moment longer
	o.cancel = nil
}

func (o *theirs) add(name string, delay time.Duration) {
	h := &theirHandler{recorder: newRecorder("theirs", name, delay, o.problems)}
	o.handlers = append(o.handlers, h)
	if o.informer == nil || o.informer.IsStopped() {
		return // start adds it
	}
	reg, err := o.informer.AddEventHandler(h)
	if err != nil {
		o.problems.add("add %s: %v", name, err)
	}
	h.reg = reg
}

func (o *theirs) remove(n int) {
	h := o.handlers[n]
	h.mu.Lock()
	h.removed = true
	h.mu.Unlock()
	o.handlers = slices.Delete(o.handlers, n, n+1)
	if h.reg != nil {
		if err := o.informer.RemoveEventHandler(h.reg); err != nil {
			o.problems.add("remove %s: %v", h.name, err)
		}
	}
}

func (o *theirs) addIndex(n int) {
	if o.informer == nil || o.informer.IsStopped() {
		o.indexes[n] = true // start adds it
		return
	}
	if o.indexes[n] && o.informer.GetIndexer().GetIndexers()[slices.Sorted(maps.Keys(theirIndexes[n]))[0]] != nil {
		return // a second AddIndexers of the same name is an error
	}
	o.indexes[n] = true
	if err := o.informer.AddIndexers(theirIndexes[n]); err != nil {
		o.problems.add("client-go: add index %d: %v", n, err)
	}
}

// check compares the informer with its model. Everything must be at rest.
func (o *theirs) check() {
	if o.cancel == nil {
		return
	}
	want, _, _ := o.model.state()
	if got := show(o.objects()); got != want {
		o.problems.add("client-go's store is\n\t%s, want\n\t%s", got, want)
	}
}

func (o *theirs) checkIndexes() {
	tiers, words, sizes := groups(o.objects())
	for n, want := range []map[string][]*corev1.ConfigMap{tiers, words, sizes} {
		if !o.indexes[n] {
			continue
		}
		name := slices.Sorted(maps.Keys(theirIndexes[n]))[0]
		for _, key := range slices.Sorted(maps.Keys(want)) {
			found, err := o.informer.GetIndexer().ByIndex(name, key)
			if got, want := show(configMaps(found)), show(slices.Values(want[key])); err != nil || got != want {
				o.problems.add("client-go's index %s has for %q\n\t%s, want\n\t%s (%v)", name, key, got, want, err)
			}
		}
	}
}

func (o *theirs) objects() iter.Seq[*corev1.ConfigMap] {
	return configMaps(o.informer.GetStore().List())
}

func configMaps(list []any) iter.Seq[*corev1.ConfigMap] {
	return func(yield func(*corev1.ConfigMap) bool) {
		for _, obj := range list {
			if !yield(obj.(*corev1.ConfigMap)) {
				return
			}
		}
	}
}

// listerWatcher adapts a client to client-go.
type listerWatcher struct {
	client   *client
	listOnly bool
}

var _ cache.ListerWatcherWithContext = (*listerWatcher)(nil)

// IsWatchListSemanticsUnSupported keeps client-go from asking for watch-lists.
func (l *listerWatcher) IsWatchListSemanticsUnSupported() bool { return l.listOnly }

// List implements cache.Lister.
func (l *listerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), opts)
}

// Watch implements cache.Watcher.
func (l *listerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), opts)
}

// ListWithContext implements cache.ListerWithContext.
func (l *listerWatcher) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.ConfigMapList{}
	result, err := l.client.List(ctx, source.ListOptions{
		ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: string(opts.ResourceVersionMatch),
		Limit: opts.Limit, Continue: opts.Continue,
	}, func(obj *corev1.ConfigMap) error {
		list.Items = append(list.Items, *obj)
		return nil
	})
	list.ResourceVersion, list.Continue = result.ResourceVersion, result.Continue
	return list, err
}

// WatchWithContext implements cache.WatcherWithContext. It returns when the server has accepted or
// refused the watch.
func (l *listerWatcher) WatchWithContext(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{events: make(chan watch.Event), cancel: cancel}
	opened, refused := make(chan struct{}), make(chan error, 1)
	var timeout time.Duration
	if opts.TimeoutSeconds != nil {
		timeout = time.Duration(*opts.TimeoutSeconds) * time.Second
	}
	go func() {
		defer close(w.events)
		err := l.client.Watch(ctx, source.WatchOptions{
			ResourceVersion: opts.ResourceVersion, Timeout: timeout,
			SendInitialEvents: opts.SendInitialEvents != nil && *opts.SendInitialEvents,
		}, func() { close(opened) }, func(e source.Event[*corev1.ConfigMap]) error { return w.send(ctx, e) })
		select {
		case <-opened:
		default:
			refused <- err
			return
		}
		// As in client-go, an answer of the server is an event, and a broken connection is the end
		// of the stream.
		var status apierrors.APIStatus
		if errors.As(err, &status) {
			s := status.Status()
			w.put(ctx, watch.Event{Type: watch.Error, Object: &s})
		}
	}()
	select {
	case <-opened:
		return w, nil
	case err := <-refused:
		cancel()
		if err == nil {
			err = errors.New("the watch ended before it was accepted")
		}
		return nil, err
	}
}

// watcher adapts an open watch to client-go.
type watcher struct {
	events chan watch.Event
	cancel context.CancelFunc
}

var _ watch.Interface = (*watcher)(nil)

// Stop implements watch.Interface.
func (w *watcher) Stop() { w.cancel() }

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher) send(ctx context.Context, e source.Event[*corev1.ConfigMap]) error {
	event := watch.Event{Type: watch.EventType(e.Type.String()), Object: e.Object}
	if e.Type == source.Bookmark {
		bookmark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: e.ResourceVersion}}
		if e.InitialEventsEnd {
			bookmark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: strconv.FormatBool(true)}
		}
		event.Object = bookmark
	}
	return w.put(ctx, event)
}

func (w *watcher) put(ctx context.Context, event watch.Event) error {
	select {
	case w.events <- event:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
