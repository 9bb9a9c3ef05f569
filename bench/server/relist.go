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

// RelistProducer is a collection of Pods in two states: the first until Expire is called, which
// ends the watch as if it had been too far behind, and then the second. One informer may use it,
// once.
type RelistProducer struct {
	states [2][]*corev1.Pod
	expire chan struct{}

	expired atomic.Bool
}

// NewRelistProducer returns a producer of these states.
func NewRelistProducer(states [2][]*corev1.Pod) *RelistProducer {
	return &RelistProducer{states: states, expire: make(chan struct{})}
}

// Expire ends the watch. It blocks until there is one.
func (p *RelistProducer) Expire() { p.expire <- struct{}{} }

func (p *RelistProducer) now() ([]*corev1.Pod, string) {
	if p.expired.Load() {
		return p.states[1], strconv.Itoa(3 * len(p.states[0]))
	}
	return p.states[0], strconv.Itoa(len(p.states[0]))
}

// end waits for the end of the watch, and returns the reason.
func (p *RelistProducer) end(ctx context.Context) error {
	select {
	case <-p.expire:
		p.expired.Store(true)
		return apierrors.NewResourceExpired("too old resource version")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Example implements [Collection].
func (*RelistProducer) Example() *corev1.Pod { return &corev1.Pod{} }

// Source returns the producer in informer-gen's form.
func (p *RelistProducer) Source() (source.Source[*corev1.Pod], error) { return relistSource{p}, nil }

// ListerWatcher returns the producer in client-go's form.
func (p *RelistProducer) ListerWatcher() (cache.ListerWatcher, error) {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			pods, version := p.now()
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
				if errors.As(p.end(ctx), &status) {
					end := status.Status()
					w.Error(&end)
				}
			}()
			return w, nil
		},
	}, noWatchList{}), nil
}

type relistSource struct{ *RelistProducer }

// List implements source.Source.
func (p relistSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	pods, version := p.now()
	for _, pod := range pods {
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: version}, nil
}

// Watch implements source.Source.
func (p relistSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), _ func(source.Event[*corev1.Pod]) error) error {
	opened()
	return p.end(ctx)
}
