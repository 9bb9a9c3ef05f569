// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// Script is a collection of existing Pods, followed by MODIFIED events. It replaces the decoder:
// the events' objects are made beforehand, each new to the informer, as from a decoder. The code
// between decoder and informer is each side's own: client-go's is watch.StreamWatcher, with a
// goroutine and an unbuffered channel; ours calls back on the goroutine that decodes. One informer
// may use it, once.
type Script struct {
	Initial []*corev1.Pod
	turn    chan []*corev1.Pod // objects of events that may be read
	rest    []*corev1.Pod      // of the last value of turn; used by the decoding goroutine
}

// NewScript returns a script of these Pods, with events from [Script.Play].
func NewScript(initial []*corev1.Pod) *Script {
	return &Script{Initial: initial, turn: make(chan []*corev1.Pod, 1)}
}

// Next returns the next event's object when it may be read; nil once done is closed.
func (s *Script) Next(done <-chan struct{}) (pod *corev1.Pod) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.turn:
		case <-done:
			return nil
		}
	}
	pod, s.rest = s.rest[0], s.rest[1:]
	return pod
}

// Play lets the events of these objects be read. It blocks until those of the previous call are.
func (s *Script) Play(pods []*corev1.Pod) { s.turn <- pods }

// Example implements [Collection].
func (*Script) Example() *corev1.Pod { return &corev1.Pod{} }

func (s *Script) resourceVersion() string { return strconv.Itoa(len(s.Initial) + 1) }

// Source implements [Collection].
func (s *Script) Source() (source.Source[*corev1.Pod], error) { return scriptSource{s}, nil }

// ListerWatcher implements [Collection].
func (s *Script) ListerWatcher() (cache.ListerWatcher, error) {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: s.resourceVersion()}}
			list.Items = make([]runtime.RawExtension, len(s.Initial))
			for i, pod := range s.Initial {
				list.Items[i].Object = pod
			}
			return list, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return watch.NewStreamWatcher(scriptDecoder{s, make(chan struct{})}, noReporter{}), nil
		},
	}, noWatchList{}), nil
}

type scriptSource struct{ *Script }

// List implements source.Source.
func (s scriptSource) List(_ context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	for _, pod := range s.Initial {
		if err := item(pod); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: s.resourceVersion()}, nil
}

// Watch implements source.Source.
func (s scriptSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	if opened != nil {
		opened()
	}
	for {
		pod := s.Next(ctx.Done())
		if pod == nil {
			return context.Cause(ctx)
		}
		if err := event(source.Event[*corev1.Pod]{
			Type: source.Modified, Object: pod, ResourceVersion: pod.ResourceVersion, More: len(s.rest) > 0,
		}); err != nil {
			return err
		}
	}
}

type scriptDecoder struct {
	*Script
	closed chan struct{}
}

// Decode implements watch.Decoder.
func (d scriptDecoder) Decode() (watch.EventType, runtime.Object, error) {
	pod := d.Next(d.closed)
	if pod == nil {
		return "", nil, io.EOF
	}
	return watch.Modified, pod, nil
}

// Close implements watch.Decoder. The StreamWatcher calls it once.
func (d scriptDecoder) Close() { close(d.closed) }

// noReporter is for a decoder without errors.
type noReporter struct{}

// AsObject implements watch.Reporter.
func (noReporter) AsObject(err error) runtime.Object {
	return &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
}
