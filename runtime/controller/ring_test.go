// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// handRing is a ring whose buckets the test grants and revokes.
type handRing struct {
	hub   *partition.Hub
	epoch uint64 // of the last grant
}

func newHandRing(by partition.By, buckets int) *handRing {
	p := partition.Partition{By: by, Buckets: buckets}
	if by != partition.ByNamespace {
		p.Roots = []partition.Root{{Kind: "ConfigMap"}}
	}
	return &handRing{hub: partition.NewHub(p)}
}

func (h *handRing) Hub() *partition.Hub { return h.hub }

func (h *handRing) all() partition.Set {
	return partition.SetOf(h.hub.Buckets, func(int) bool { return true })
}

func (h *handRing) grant(set partition.Set) {
	h.epoch++
	epochs := map[int]uint64{}
	for b := range set.All() {
		epochs[b] = h.epoch
	}
	h.hub.Grant(epochs)
}

// count returns the running reconciles and the keys in the queue of the buckets in a set.
func (h *handRing) count(set partition.Set) (running, queued int) {
	counts := make([]int, h.hub.Buckets)
	for _, w := range h.hub.Workers() {
		w.Queued(counts)
		for b := range set.All() {
			running += w.Running(b)
		}
	}
	for b := range set.All() {
		queued += counts[b]
	}
	return running, queued
}

// bucketOf returns the set of the bucket of an object.
func (h *handRing) bucketOf(obj object.Object) partition.Set {
	return partition.SetOf(h.hub.Buckets, func(b int) bool { return b == h.hub.BucketOf(object.MetaOf(obj)) })
}

// namesIn returns the keys of the server's ConfigMaps in buckets, sorted.
func (h *handRing) namesIn(r *rig, set partition.Set) (keys []string) {
	for _, m := range r.maps.All() {
		if set.Contains(h.bucketOf(m)) {
			keys = append(keys, object.KeyOf(m).String())
		}
	}
	slices.Sort(keys)
	return keys
}

// eachBy runs a test with each By, and 40 ConfigMaps in four namespaces. some are the buckets of
// about half of them.
func eachBy(t *testing.T, test func(t *testing.T, r *rig, ring *handRing, some partition.Set)) {
	for _, by := range []partition.By{partition.ByNamespace, partition.ByKey, partition.ByUID} {
		t.Run(by.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				ring := newHandRing(by, 1024) // UIDs of the test's server differ in the last digits
				var some partition.Set
				for n := range 40 {
					m := r.maps.Create(mapIn(fmt.Sprint("team-", n/10), fmt.Sprint("map-", n)))
					if len(ring.namesIn(r, some)) < 20 {
						some = some.Or(ring.bucketOf(m))
					}
				}
				if in := len(ring.namesIn(r, some)); in == 0 || in == 40 {
					t.Fatalf("%d of 40 ConfigMaps are in some", in)
				}
				test(t, r, ring, some)
			})
		})
	}
}

func TestRingDecidesWhichKeysAreReconciled(t *testing.T) {
	eachBy(t, func(t *testing.T, r *rig, ring *handRing, some partition.Set) {
		updateAll := func() {
			for _, m := range r.maps.All() {
				r.maps.Update(m)
			}
		}
		ring.grant(some)
		calls := &calls{}
		c, stop := r.run(calls, controller.Options{Ring: ring}, controller.For(r.mapInformer))
		same(t, "held at the start", calls.sorted(), ring.namesIn(r, some))
		updateAll()
		same(t, "held, updated", calls.sorted(), ring.namesIn(r, some))
		others := ring.all().Without(some)
		ring.grant(others)
		same(t, "granted", calls.sorted(), ring.namesIn(r, others))
		updateAll()
		same(t, "all are held", len(calls.take()), 40)
		ring.hub.Revoke(some)
		updateAll()
		same(t, "after the revoke", calls.sorted(), ring.namesIn(r, others))
		ring.grant(some)
		same(t, "granted again", calls.sorted(), ring.namesIn(r, some))
		_ = stop()
		same(t, "workers after the end", len(ring.hub.Workers()), 0)
		r.start(c)
		same(t, "another run", len(calls.take()), 40)
	})
}

// TestRevokeDropsWaitingKeys: ready, delayed, failed and held ones, and those of running
// reconciles.
func TestRevokeDropsWaitingKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := newHandRing(partition.ByKey, 8)
		ring.grant(ring.all())
		lag := r.newLag(time.Second)
		calls := &calls{do: func(ctx context.Context, key object.Key) (result, error) {
			switch key.Name {
			case "again":
				return result{RequeueAfter: time.Minute}, nil
			case "fails":
				return result{RequeueAfter: time.Second}, errTry
			case "writes":
				controller.Wrote(ctx, r.update(lag, "writes")[0])
			case "slow":
				time.Sleep(time.Hour)
				return result{RequeueAfter: time.Minute}, errTry
			}
			return result{}, nil
		}}
		options := controller.Options{Ring: ring, AwaitTimeout: time.Minute}
		var logs strings.Builder
		c := r.new(calls.reconcile, options, controller.For(r.mapInformer))
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), informertest.LogTo(&logs, 0)))
		ended := informertest.Go(t, func(context.Context) error { return c.Run(ctx) })
		synctest.Wait()
		r.maps.Create(configMap("writes"))
		for _, name := range []string{"again", "fails", "slow", "ready"} {
			synctest.Wait()
			c.Enqueue(object.Key{Namespace: "shop", Name: name})
		}
		synctest.Wait()
		running, queued := ring.count(ring.all())
		same(t, "running", running, 1)
		same(t, "in the queue", queued, 5)
		same(t, "failing", len(c.Status().Failing), 1)
		logs.Reset()
		calls.take()
		ring.hub.Revoke(ring.all())
		running, queued = ring.count(ring.all())
		same(t, "running after the revoke", running, 1)
		same(t, "in the queue after the revoke", queued, 1)
		same(t, "failing after the revoke", len(c.Status().Failing), 0)
		changed := ring.hub.Changed()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		select {
		case <-changed:
		default:
			t.Error("the hub was not told about the end of the reconcile")
		}
		running, queued = ring.count(ring.all())
		same(t, "at the end", []int{running, queued}, []int{0, 0})
		same(t, "reconciles", calls.take(), []string{})
		same(t, "unseen writes", c.Status().Totals.Unseen, 0)
		same(t, "lines of the log", strings.Count(logs.String(), "\n"), 1) // slow failed by itself
		cancel()
		_ = ended.End()
	})
}

// TestCancelEndsReconciles of the buckets, which is no failure.
func TestCancelEndsReconciles(t *testing.T) {
	for name, test := range map[string]struct {
		options controller.Options
		err     func(ctx context.Context) error
	}{
		"its error":         {controller.Options{}, func(ctx context.Context) error { return ctx.Err() }},
		"its cause":         {controller.Options{}, func(ctx context.Context) error { return fmt.Errorf("in the test: %w", context.Cause(ctx)) }},
		"nothing":           {controller.Options{}, func(context.Context) error { return nil }},
		"with a time limit": {controller.Options{Timeout: time.Hour}, context.Cause},
		"with a child's error": {controller.Options{}, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			return ctx.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				ring := newHandRing(partition.ByKey, 64)
				a, b := r.maps.Create(configMap("a")), r.maps.Create(configMap("b"))
				ring.grant(ring.all())
				claims := map[string]partition.Claim{}
				ended := make(chan error, 2)
				calls := &calls{}
				calls.do = func(ctx context.Context, key object.Key) (result, error) {
					calls.mu.Lock()
					claims[key.Name] = *partition.ClaimOf(ctx)
					calls.mu.Unlock()
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return result{}, test.err(ctx)
				}
				test.options.Ring, test.options.Concurrency = ring, 2
				var logs strings.Builder
				c := r.new(calls.reconcile, test.options, controller.For(r.mapInformer))
				ctx, cancel := context.WithCancelCause(klog.NewContext(t.Context(), informertest.LogTo(&logs, 0)))
				run := informertest.Go(t, func(context.Context) error { return c.Run(ctx) })
				synctest.Wait()
				ring.hub.Revoke(ring.bucketOf(a))
				running, _ := ring.count(ring.bucketOf(a))
				same(t, "running", running, 1)
				ring.hub.Cancel(ring.bucketOf(a))
				synctest.Wait()
				running, _ = ring.count(ring.bucketOf(a))
				same(t, "running after Cancel", running, 0)
				if err := <-ended; !errors.Is(err, partition.ErrNotOwned) {
					t.Errorf("the context's cause is %v, want ErrNotOwned", err)
				}
				same(t, "other reconciles that ended", len(ended), 0)
				for _, m := range []*corev1.ConfigMap{a, b} {
					want := partition.Claim{Hub: ring.hub, Bucket: ring.hub.BucketOfKey(m.Namespace, m.Name), Epoch: 1}
					same(t, "claim of "+m.Name, claims[m.Name], want)
				}
				s := c.Status()
				same(t, "failures", []any{s.Totals.Failed, s.LastMinute.Failed, s.LastError, len(s.Failing)}, []any{0, 0, "", 0})
				same(t, "logs", logs.String(), "")
				cancel(errStop)
				_ = run.End()
			})
		})
	}
}

// TestGrantQueuesKeysOfAllWatches: as for added objects, at low priority.
func TestGrantQueuesKeysOfAllWatches(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := newHandRing(partition.ByKey, 8)
		r.maps.Create(configMap("own"))
		r.pods.Create(pod("p", ownedBy("v1", "ConfigMap", "owner")))
		r.pods.Create(pod("bad"))
		r.pods.Create(pod("q", func(p *corev1.Pod) { p.Annotations = map[string]string{"ref": "mapped"} }))
		refs := func(p *corev1.Pod, dst []object.Key) []object.Key {
			if p.Name == "bad" {
				panic("in the test")
			}
			if ref := p.Annotations["ref"]; ref != "" {
				dst = append(dst, object.Key{Namespace: "shop", Name: ref})
			}
			return dst
		}
		named := func(_, p *corev1.Pod) bool { return p.Name != "filtered" }
		r.pods.Create(pod("filtered", func(p *corev1.Pod) { p.Annotations = map[string]string{"ref": "unwanted"} }))
		calls := &calls{}
		c, _ := r.run(calls, controller.Options{Ring: ring}, controller.For(r.mapInformer).OfKind(mapKind, true),
			controller.Owns(r.podInformer), controller.Watches(r.podInformer, refs, named).After(time.Second))
		same(t, "without a bucket", calls.take(), []string{})
		for epoch := range 3 {
			ring.grant(ring.all())
			same(t, "granted at once", calls.sorted(), []string{"shop/own", "shop/owner"})
			time.Sleep(time.Second)
			same(t, "granted after the delay", calls.take(), []string{"shop/mapped"})
			if epoch < 2 {
				ring.hub.Revoke(ring.all())
			}
		}
		same(t, "totals", c.Status().Totals.Succeeded, 9)
	})
}

// TestEveryAndEnqueueGoByTheRing, before the run and in it.
func TestEveryAndEnqueueGoByTheRing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := newHandRing(partition.ByNamespace, 1024)
		keys := []object.Key{{Namespace: "a", Name: "x"}, {Namespace: "b", Name: "x"}, {Name: "a"}}
		mine := ring.bucketOf(mapIn("a", "any"))
		ring.grant(mine)
		calls := &calls{}
		c := r.new(calls.reconcile, controller.Options{Ring: ring}, controller.Every(time.Hour, 0, func() iter.Seq[object.Key] { return slices.Values(keys) }))
		c.Enqueue(keys...)
		r.start(c)
		same(t, "queued before the run", calls.sorted(), []string{"a", "a/x"})
		c.Enqueue(keys...)
		same(t, "queued in the run", calls.sorted(), []string{"a", "a/x"})
		time.Sleep(time.Hour)
		same(t, "after an hour", calls.sorted(), []string{"a", "a/x"})
		ring.hub.Revoke(mine)
		c.Enqueue(keys...)
		time.Sleep(time.Hour)
		same(t, "after the revoke", calls.take(), []string{})
	})
}
