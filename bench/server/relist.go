// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// RelistFeed is a collection of Pods in two states: the first one until expireNow is called, which
// ends the watch as if it had been too far behind, and then the second one. One informer may use
// it, once.
type RelistFeed struct {
	states [2][]*corev1.Pod
	expire chan struct{}

	expired atomic.Bool
}

// NewRelistFeed returns a feed of these states.
func NewRelistFeed(states [2][]*corev1.Pod) *RelistFeed {
	return &RelistFeed{states: states, expire: make(chan struct{})}
}

// Expire ends the watch. It blocks until there is one.
func (f *RelistFeed) Expire() { f.expire <- struct{}{} }

// now returns the state that there is, and its version.
func (f *RelistFeed) now() ([]*corev1.Pod, string) {
	if f.expired.Load() {
		return f.states[1], strconv.Itoa(3 * len(f.states[0]))
	}
	return f.states[0], strconv.Itoa(len(f.states[0]))
}

// end waits until the watch ends, and returns why.
func (f *RelistFeed) end(ctx context.Context) error {
	select {
	case <-f.expire:
		f.expired.Store(true)
		return apierrors.NewResourceExpired("too old resource version")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Example implements [Collection].
func (*RelistFeed) Example() *corev1.Pod { return &corev1.Pod{} }

// Source is the feed as informer-gen reads it.
func (f *RelistFeed) Source() (source.Source[*corev1.Pod], error) { return relistSource{f}, nil }

// ListerWatcher is the feed as client-go reads it.
func (f *RelistFeed) ListerWatcher() (cache.ListerWatcher, error) {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			pods, version := f.now()
			list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
			list.Items = make([]corev1.Pod, len(pods))
			for i, pod := range pods {
				list.Items[i] = *pod
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			w := watch.NewRaceFreeFake()
			go func() {
				var status apierrors.APIStatus
				if errors.As(f.end(ctx), &status) {
					end := status.Status()
					w.Error(&end)
				}
			}()
			return w, nil
		},
	}, noWatchList{}), nil
}

type relistSource struct{ *RelistFeed }

// List implements source.Source.
func (f relistSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	pods, version := f.now()
	for _, pod := range pods {
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: version}, nil
}

// Watch implements source.Source.
func (f relistSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), _ func(source.Event[*corev1.Pod]) error) error {
	opened()
	return f.end(ctx)
}
