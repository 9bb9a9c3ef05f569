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

// Producer is a collection of Pods that need no decoding: a list of those that exist, then a watch
// with what Update is given. Both sides read one channel, of the same kind and size. One informer
// may use it, once.
type Producer struct {
	initial []*corev1.Pod
	events  chan watch.Event
}

// NewProducer returns a producer in which up to ahead updates wait to be read.
func NewProducer(initial []*corev1.Pod, ahead int) *Producer {
	return &Producer{initial: initial, events: make(chan watch.Event, ahead)}
}

// Update sends a MODIFIED event. It blocks while the informer does not read.
func (p *Producer) Update(pod *corev1.Pod) {
	p.events <- watch.Event{Type: watch.Modified, Object: pod}
}

// Example implements [Collection].
func (*Producer) Example() *corev1.Pod { return &corev1.Pod{} }

func (p *Producer) resourceVersion() string { return strconv.Itoa(len(p.initial) + 1) }

// Source is the producer as informer-gen reads it.
func (p *Producer) Source() (source.Source[*corev1.Pod], error) { return producerSource{p}, nil }

// ListerWatcher is the producer as client-go reads it.
func (p *Producer) ListerWatcher() (cache.ListerWatcher, error) {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: p.resourceVersion()}}
			list.Items = make([]runtime.RawExtension, len(p.initial))
			for i, pod := range p.initial {
				list.Items[i].Object = pod
			}
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return producerWatch{p}, nil },
	}, noWatchList{}), nil
}

type producerSource struct{ *Producer }

// List implements source.Source.
func (p producerSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	for _, pod := range p.initial {
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: p.resourceVersion()}, nil
}

// Watch implements source.Source.
func (p producerSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	if opened != nil {
		opened()
	}
	for {
		select {
		case e := <-p.events:
			pod := e.Object.(*corev1.Pod)
			if err := event(source.Event[*corev1.Pod]{
				Type: source.Modified, Object: pod, ResourceVersion: pod.ResourceVersion, More: len(p.events) > 0,
			}); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type producerWatch struct{ *Producer }

// ResultChan implements watch.Interface.
func (p producerWatch) ResultChan() <-chan watch.Event { return p.events }

// Stop implements watch.Interface. The caller then reads no more, so there is nothing to end.
func (p producerWatch) Stop() {}
