// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// burst is a Source whose list is empty. The events of its watch have all arrived at once. It asks
// Keep before each of them, or ahead of all.
type burst struct {
	pods  []*corev1.Pod
	ahead bool
}

func (b burst) List(context.Context, source.ListOptions, func(*corev1.Pod) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, nil
}

func (b burst) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	opened()
	kept := make([]bool, len(b.pods))
	for n, pod := range b.pods {
		if kept[n] = opts.Keep(object.MetaOf(pod)); !b.ahead && kept[n] {
			_ = event(source.Event[*corev1.Pod]{Type: source.Modified, Object: pod, ResourceVersion: pod.ResourceVersion, More: n+1 < len(b.pods)})
		}
	}
	for n, pod := range b.pods {
		if b.ahead && kept[n] {
			_ = event(source.Event[*corev1.Pod]{Type: source.Modified, Object: pod, ResourceVersion: pod.ResourceVersion, More: n+1 < len(b.pods)})
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestRingLearnsOfObjectsOnTheirWay: an object enters the informer's buckets, and leaves them
// before the store has it.
func TestRingLearnsOfObjectsOnTheirWay(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		inBubble(t, fmt.Sprint("ahead ", ahead), func(t *testing.T) {
			ring := newRing(partition.ByKey, orders...)
			ring.want("shop/order-1")
			src := burst{ahead: ahead}
			for n, owner := range []int{1, 2} {
				p := owned("shop", "a", owner)
				p.UID, p.ResourceVersion = "u", fmt.Sprint(n+2)
				src.pods = append(src.pods, p)
			}
			pods := newPods(t, source.Source[*corev1.Pod](src), informer.WithRing(ring), listing, informer.WithLogger(discard))
			var j journal[*corev1.Pod]
			informertest.Add(t, pods, &j)
			start(t, pods)
			j.Saw(t, "+a@2", "-a@2")
			same(t, "objects", informertest.Names(pods), []string{})
		})
	}
}

// foreignEvents is a Source whose list is empty. Its watches send events of a pod of another
// bucket, and no bookmarks.
type foreignEvents struct{ watches *int }

func (foreignEvents) List(context.Context, source.ListOptions, func(*corev1.Pod) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, nil
}

func (f foreignEvents) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	*f.watches++
	opened()
	for n := 2; ; n++ {
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p := owned("shop", "a", 2)
		p.UID, p.ResourceVersion = "u", fmt.Sprint(n)
		if err := event(source.Event[*corev1.Pod]{Type: source.Modified, Object: p, ResourceVersion: p.ResourceVersion}); err != nil {
			return err
		}
	}
}

// TestRingOfForeignEvents: a watch isn't silent whose events are of other buckets.
func TestRingOfForeignEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring, watches := newRing(partition.ByKey, orders...), 0
		ring.want("shop/order-1")
		pods := newPods(t, source.Source[*corev1.Pod](foreignEvents{&watches}), informer.WithRing(ring), listing, informer.WithLogger(discard))
		start(t, pods)
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		same(t, "watches", watches, 1)
		same(t, "version", pods.Status().ResourceVersion, "61")
	})
}

// slowStart is a Source that sends a pod of another bucket every 5 s, sixty times, before the first
// one of its own. calls counts its lists, and its watches with and without initial events.
type slowStart struct{ calls *[3]int }

func (s slowStart) send(ctx context.Context, item func(*corev1.Pod) error) error {
	for n := range 61 {
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p := owned("shop", fmt.Sprint("pod-", n), map[bool]int{true: 1, false: 2}[n == 60])
		p.UID, p.ResourceVersion = types.UID(p.Name), "7"
		if err := item(p); err != nil {
			return err
		}
	}
	return nil
}

func (s slowStart) List(ctx context.Context, _ source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	s.calls[0]++
	return source.ListResult{ResourceVersion: "7"}, s.send(ctx, item)
}

func (s slowStart) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	opened()
	if !opts.SendInitialEvents {
		s.calls[2]++
		<-ctx.Done()
		return context.Cause(ctx)
	}
	s.calls[1]++
	err := s.send(ctx, func(p *corev1.Pod) error {
		return event(source.Event[*corev1.Pod]{Type: source.Added, Object: p, ResourceVersion: p.ResourceVersion})
	})
	if err == nil {
		err = event(source.Event[*corev1.Pod]{Type: source.Bookmark, ResourceVersion: "7", InitialEventsEnd: true})
	}
	if err == nil {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return err
}

// TestRingOfForeignObjects: neither a list nor a watch-list is silent whose objects are of other
// buckets.
func TestRingOfForeignObjects(t *testing.T) {
	for list, want := range map[bool][3]int{true: {1, 0, 1}, false: {0, 1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			ring, calls := newRing(partition.ByKey, orders...), [3]int{}
			ring.want("shop/order-1")
			pods := newPods(t, source.Source[*corev1.Pod](slowStart{&calls}), informer.WithRing(ring), informer.WithTuning(reflector.Tuning{DisableWatchList: list}), informer.WithLogger(discard))
			start(t, pods)
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			same(t, "lists, watch-lists and watches", calls, want)
			same(t, "objects", pods.Store().Snapshot().Len(), 1)
		})
	}
}
