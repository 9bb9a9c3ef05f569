// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var rings = flag.Int("rings", 20, "number of random histories that TestRandomRings plays")

// TestRandomRings plays random histories of pods and of a ring's buckets, in all modes, and
// compares the store with the pods in wanted buckets. The journals check the order of events.
func TestRandomRings(t *testing.T) {
	for seed := range *rings {
		inBubble(t, fmt.Sprint("seed ", seed), func(t *testing.T) { playRing(t, rand.New(rand.NewPCG(uint64(seed), 1))) })
	}
}

// testRing is a Ring whose buckets the test moves.
type testRing struct{ hub *partition.Hub }

func (r testRing) Hub() *partition.Hub { return r.hub }

// careless is a Source that ignores Keep.
type careless struct{ source.Source[*corev1.Pod] }

func (c careless) List(ctx context.Context, opts source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	opts.Keep = nil
	return c.Source.List(ctx, opts, item)
}

func (c careless) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	opts.Keep = nil
	return c.Source.Watch(ctx, opts, opened, event)
}

// sharding is a Source of a server that knows shards.
type sharding struct{ source.Source[*corev1.Pod] }

func has(selector string, pod *corev1.Pod) bool {
	s, err := shard.Parse(selector)
	if err != nil {
		panic(err)
	}
	return s.Has(string(pod.UID), pod.Namespace)
}

func (s sharding) List(ctx context.Context, opts source.ListOptions, item func(*corev1.Pod) error) (source.ListResult, error) {
	selector := opts.ShardSelector
	opts.ShardSelector = ""
	result, err := s.Source.List(ctx, opts, func(pod *corev1.Pod) error {
		if !has(selector, pod) {
			return nil
		}
		return item(pod)
	})
	result.Sharded = selector != ""
	return result, err
}

func (s sharding) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[*corev1.Pod]) error) error {
	selector := opts.ShardSelector
	opts.ShardSelector = ""
	return s.Source.Watch(ctx, opts, opened, func(e source.Event[*corev1.Pod]) error {
		if e.Type != source.Bookmark && !has(selector, e.Object) {
			return nil
		}
		return event(e)
	})
}

// owned returns a pod whose controller is the n-th root; -1 means none.
func owned(namespace, name string, n int) *corev1.Pod {
	p := pod(namespace, name, "")
	if n >= 0 {
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "shop.example.com/v1", Kind: "Order", Name: fmt.Sprint("order-", n), UID: types.UID(fmt.Sprint(n, "-7dec-11d0-a765-00a0c91e6bf6")), Controller: ptr.To(true),
		}}
	}
	return p
}

var orders = []partition.Root{{Group: "shop.example.com", Kind: "Order"}}

func playRing(t *testing.T, random *rand.Rand) {
	hub := partition.NewHub(partition.Partition{By: partition.By(random.IntN(3)), Buckets: 8})
	if random.IntN(3) > 0 {
		hub.Roots = orders
	}
	r := newRealm("ns-0 ns-1 ns-2 ns-3")
	opts := []informer.Option{informer.WithRing(testRing{hub}), informer.WithLogger(discard), informer.WithTuning(reflector.Tuning{DisableWatchList: random.IntN(2) == 0})}
	if random.IntN(2) == 0 {
		opts = append(opts, fewNamespaces)
	}
	f := r.Factory(t)
	if random.IntN(2) == 0 {
		f = r.shardFactory(t, random.IntN(2) == 0)
	}
	pods := podsOf(f, opts...)
	fixed := false // the informer reads the first four namespaces only
	switch random.IntN(6) {
	case 0:
		pods = newPods(t, r.Source(t), opts...)
	case 1:
		pods = newPods(t, careless{r.Source(t)}, opts...)
	case 2:
		pods = newPods(t, sharding{r.Source(t)}, opts...)
	case 3:
		pods = podsOf(f, append(opts, informer.WithNamespace("ns-0", "ns-1", "ns-2", "ns-3"))...)
		fixed = true
	}
	var slow, quick journal[*corev1.Pod]
	slow.Before = func(string, object.Key) { time.Sleep(20 * time.Millisecond) }
	informertest.Add(t, pods, &slow, informer.WithBacklogThreshold(3))
	informertest.Add(t, pods, &quick)
	wanted := map[int]bool{}
	move := func() {
		for range 1 + random.IntN(3) {
			b := random.IntN(8)
			wanted[b] = !wanted[b]
		}
		if random.IntN(10) == 0 {
			clear(wanted)
		}
		hub.SetWanted(partition.SetOf(8, func(b int) bool { return wanted[b] }))
	}
	if random.IntN(2) == 0 {
		move()
	}
	lease := acquire(t.Context(), t, pods)
	end, extra := func() {}, 0 // namespaces beside the first four
	for range 80 {
		ns, name := fmt.Sprint("ns-", random.IntN(4+extra)), fmt.Sprint("pod-", random.IntN(6))
		_, exists := r.Pods.Get(ns, name)
		switch n := random.IntN(20); {
		case n < 4:
			move()
		case n < 9 && exists:
			r.Pods.Update(owned(ns, name, random.IntN(6)-1))
		case n < 9:
			r.Pods.Create(owned(ns, name, random.IntN(6)-1))
		case n < 11 && exists:
			r.Pods.Delete(ns, name)
		case n == 11:
			r.EndWatches()
		case n == 12:
			r.EndWatches()
			r.Compact()
		case n == 13:
			end()
			end = r.Inject(sourcetest.Fault{Times: 1 + random.IntN(5), Skip: random.IntN(3), Do: []func(*sourcetest.Answer){
				sourcetest.Refuse(503), sourcetest.Refuse(403), sourcetest.Fail(informertest.ErrOutage), func(a *sourcetest.Answer) { a.Delay = time.Second },
			}[random.IntN(4)]})
		case n == 14:
			noError(t, lease.Release(t.Context()))
			lease = acquire(t.Context(), t, pods)
		case n == 15:
			pass(time.Duration(random.IntN(3000)) * time.Millisecond)
		case n == 16:
			time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
		case n == 17 && !fixed && extra < 4:
			r.namespaces.Create(namespace(fmt.Sprint("ns-", 4+extra)))
			extra++
		case n == 18 && !fixed && extra > 0:
			extra--
			last := fmt.Sprint("ns-", 4+extra)
			for _, pod := range r.Pods.All() {
				if pod.Namespace == last {
					r.Pods.Delete(last, pod.Name)
				}
			}
			r.namespaces.Delete("", last)
		default:
			synctest.Wait()
		}
	}
	end()
	pass(5 * time.Minute)
	for range 2 {
		checkRing(t, hub, r, pods)
		slow.Check(t, pods)
		quick.Check(t, pods)
		move()
		pass(time.Minute) // without faults
	}
	if t.Failed() {
		t.Log(pods.Status(), hub.Modes(), hub.By, len(hub.Roots))
	}
	noError(t, lease.Release(t.Context()))
	shutdown(t, f)
}

// checkRing compares the store with the pods in wanted buckets, all of which must be loaded.
func checkRing(t *testing.T, hub *partition.Hub, r *realm, pods *informer.SharedIndexInformer[*corev1.Pod]) {
	t.Helper()
	if hub.Loaded() != hub.Wanted() {
		t.Errorf("%d of %d buckets are loaded", hub.Loaded().Len(), hub.Wanted().Len())
	}
	wanted, stored := map[object.Key]string{}, map[object.Key]string{}
	for _, pod := range r.Pods.All() {
		if hub.Wanted().Has(hub.BucketOf(object.MetaOf(pod))) {
			wanted[object.KeyOf(pod)] = pod.ResourceVersion
		}
	}
	for pod := range pods.Store().Snapshot().All() {
		stored[object.KeyOf(pod)] = pod.ResourceVersion
	}
	same(t, "objects", stored, wanted)
	if !pods.HasSynced() {
		t.Error("not synced")
	}
}
