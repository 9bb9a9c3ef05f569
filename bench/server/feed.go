// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// Feed is a collection of Pods that need no decoding: a list of those that exist, then a watch with
// what update is given. Both sides read one channel, of the same kind and size. One informer may
// use it, once.
type Feed struct {
	initial []*corev1.Pod
	events  chan watch.Event
}

// NewFeed returns a feed in which up to ahead updates wait to be read.
func NewFeed(initial []*corev1.Pod, ahead int) *Feed {
	return &Feed{initial: initial, events: make(chan watch.Event, ahead)}
}

// Update sends a MODIFIED event. It blocks while the informer does not read.
func (f *Feed) Update(pod *corev1.Pod) { f.events <- watch.Event{Type: watch.Modified, Object: pod} }

// Example implements [Collection].
func (*Feed) Example() *corev1.Pod { return &corev1.Pod{} }

func (f *Feed) resourceVersion() string { return strconv.Itoa(len(f.initial) + 1) }

// Source is the feed as informer-gen reads it.
func (f *Feed) Source() (source.Source[*corev1.Pod], error) { return feedSource{f}, nil }

// ListerWatcher is the feed as client-go reads it.
func (f *Feed) ListerWatcher() (cache.ListerWatcher, error) {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: f.resourceVersion()}}
			list.Items = make([]runtime.RawExtension, len(f.initial))
			for i, pod := range f.initial {
				list.Items[i].Object = pod
			}
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return feedWatch{f}, nil },
	}, noWatchList{}), nil
}

type feedSource struct{ *Feed }

// List implements source.Source.
func (f feedSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	for _, pod := range f.initial {
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: f.resourceVersion()}, nil
}

// Watch implements source.Source.
func (f feedSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	if opened != nil {
		opened()
	}
	for {
		select {
		case e := <-f.events:
			pod := e.Object.(*corev1.Pod)
			if err := event(source.Event[*corev1.Pod]{
				Type: source.Modified, Object: pod, ResourceVersion: pod.ResourceVersion, More: len(f.events) > 0,
			}); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type feedWatch struct{ *Feed }

// ResultChan implements watch.Interface.
func (f feedWatch) ResultChan() <-chan watch.Event { return f.events }

// Stop implements watch.Interface. The caller then reads no more, so there is nothing to end.
func (f feedWatch) Stop() {}
