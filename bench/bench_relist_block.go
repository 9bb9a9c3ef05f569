// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

const (
	blockedHandlers = 10
	probesApart     = 10 * time.Millisecond

	addTakes    = "longest time of AddEventHandler"
	askTakes    = "longest time of Status and Await"
	perListener = "allocated, per handler beyond the first"
)

// relistBlockBenches have a relist bring changes of all objects, while handlers are added and the
// informer is asked how it is doing.
func relistBlockBenches() []bench {
	return []bench{{
		name: "relist-block",
		title: func(z sizes) string {
			return fmt.Sprintf("a relist of %s Pods, all changed, with %d handlers",
				digits(float64(z.Many)), blockedHandlers)
		},
		measures: []measure{
			{name: addTakes, unit: inTime, limit: atMost(2e6)},
			{name: askTakes, unit: inTime, limit: atMost(2e6)},
			{name: perListener, unit: inBytes, limit: atMost(100e3)},
		},
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			pods := slimPods(e.sizes.Many)
			states := [2][]*corev1.Pod{pods, changedAll(pods)}
			return func() (outcome, error) { return relistBlockOnce(e.side, states) }, nil, nil
		},
	}}
}

func relistBlockOnce(s side, states [2][]*corev1.Pod) (outcome, error) {
	probed, err := relistOver(s, states, blockedHandlers, true) // it warms up, too
	if err != nil {
		return outcome{}, err
	}
	one, err := relistOver(s, states, 1, false)
	if err != nil {
		return outcome{}, err
	}
	ten, err := relistOver(s, states, blockedHandlers, false)
	if err != nil {
		return outcome{}, err
	}
	return outcome{Seen: probed.saw, Values: map[string]float64{
		addTakes:    float64(probed.add),
		askTakes:    float64(probed.ask),
		perListener: (ten.bytes - one.bytes) / (blockedHandlers - 1),
	}}, nil
}

// relisted is the cost of one relist.
type relisted struct {
	bytes    float64       // allocated
	add, ask time.Duration // the longest
	saw      seen
}

// relistOver runs an informer with so many handlers, has it relist, and waits until all handlers
// have the differences.
func relistOver(s side, states [2][]*corev1.Pod, handlers int, probed bool) (result relisted, err error) {
	f := newRelistFeed(states)
	r, err := newPodRig(s, f, informer.WithWatchList(false))
	if err != nil {
		return result, err
	}
	var left atomic.Int64
	left.Store(int64(handlers * len(states[1])))
	all := make(chan struct{})
	for range handlers {
		if err := r.handle(handler{update: func(*corev1.Pod) {
			if left.Add(-1) == 0 {
				close(all)
			}
		}}); err != nil {
			return result, err
		}
	}
	stop, err := r.start()
	if err != nil {
		return result, err
	}
	defer func() { stop() }()
	if err := waitSynced(r); err != nil {
		return result, err
	}
	c, err := costOf(func() error {
		f.expireNow()
		for probed && left.Load() > 0 {
			if err := result.probe(r); err != nil {
				return err
			}
			time.Sleep(probesApart)
		}
		return wait(all, "the handlers to have the differences")
	})
	if err != nil {
		return result, err
	}
	stop()
	stop = func() {}
	result.bytes, result.saw = c.bytes, sumUpPods(r.objects())
	result.saw.Events = handlers*len(states[1]) - int(left.Load())
	return result, nil
}

// probe adds a handler, removes it, and asks the informer what takes no work.
func (p *relisted) probe(r podRig) error {
	began := time.Now()
	switch r := r.(type) {
	case *ourRig[*corev1.Pod]:
		reg, err := r.informer.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{})
		p.add = max(p.add, time.Since(began))
		if err != nil {
			return err
		}
		reg.Remove()
		began = time.Now()
		status := r.informer.Status()
		err = r.informer.AwaitResourceVersion(context.Background(), status.ResourceVersion)
		p.ask = max(p.ask, time.Since(began))
		return err
	case *clientGoRig[*corev1.Pod]:
		reg, err := r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		p.add = max(p.add, time.Since(began))
		if err != nil {
			return err
		}
		began = time.Now()
		_, _, _ = r.informer.LastSyncResourceVersion(), r.informer.HasSynced(), r.informer.IsStopped()
		p.ask = max(p.ask, time.Since(began))
		return r.informer.RemoveEventHandler(reg)
	}
	return errors.New("no such rig")
}

// relistFeed is a collection of Pods in two states: the first one until expireNow is called, which
// ends the watch as if it had been too far behind, and then the second one. One informer may use
// it, once.
type relistFeed struct {
	states [2][]*corev1.Pod
	expire chan struct{}

	expired atomic.Bool
}

// newRelistFeed returns a feed of these states.
func newRelistFeed(states [2][]*corev1.Pod) *relistFeed {
	return &relistFeed{states: states, expire: make(chan struct{})}
}

// expireNow ends the watch. It blocks until there is one.
func (f *relistFeed) expireNow() { f.expire <- struct{}{} }

// now returns the state that there is, and its version.
func (f *relistFeed) now() ([]*corev1.Pod, string) {
	if f.expired.Load() {
		return f.states[1], strconv.Itoa(3 * len(f.states[0]))
	}
	return f.states[0], strconv.Itoa(len(f.states[0]))
}

// end waits until the watch ends, and returns why.
func (f *relistFeed) end(ctx context.Context) error {
	select {
	case <-f.expire:
		f.expired.Store(true)
		return apierrors.NewResourceExpired("too old resource version")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// example implements collection.
func (*relistFeed) example() *corev1.Pod { return &corev1.Pod{} }

// source is the feed as informer-gen reads it.
func (f *relistFeed) source() (source.Source[*corev1.Pod], error) { return relistSource{f}, nil }

// listerWatcher is the feed as client-go reads it.
func (f *relistFeed) listerWatcher() (cache.ListerWatcher, error) {
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

type relistSource struct{ *relistFeed }

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
