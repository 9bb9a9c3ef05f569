// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestStress has events, errors, panics, deadlines, awaited writes and calls of Status
// concurrently, outside of a bubble, in several runs. No key is reconciled twice at once, no
// reconcile reads a state before its last write, and the last state of each object is reconciled.
func TestStress(t *testing.T) {
	const objects = 20
	r := newRig(t)
	var stale, concurrent atomic.Int64
	var busy, wrote [objects]atomic.Int64 // by object: running reconciles, the last version written
	seen := [objects]atomic.Int64{}
	var finishing atomic.Bool
	reconcile := func(ctx context.Context, key object.Key) (res result, _ error) {
		var n int
		if _, err := fmt.Sscanf(key.Name, "m%d", &n); err != nil {
			return res, controller.Terminal(err)
		}
		if busy[n].Add(1) > 1 {
			concurrent.Add(1)
		}
		defer busy[n].Add(-1)
		obj, ok := r.mapInformer.Store().Snapshot().Get(key)
		if !ok {
			return res, nil
		}
		version := number(obj.ResourceVersion)
		if version < wrote[n].Load() {
			stale.Add(1)
		}
		seen[n].Store(version)
		if finishing.Load() {
			return res, nil
		}
		switch rand.IntN(12) {
		case 0:
			panic("in the test")
		case 1:
			return res, errTry
		case 2:
			res.RequeueAfter = time.Millisecond
		case 3:
			runtime.Goexit()
		case 4:
			<-ctx.Done() // the deadline
			return res, context.Cause(ctx)
		case 5, 6:
			written := r.maps.Update(configMap(key.Name))
			wrote[n].Store(number(written.ResourceVersion))
			controller.Wrote(ctx, object.TokenOf(mapsResource, written))
		}
		return res, nil
	}
	for n := range objects {
		r.maps.Create(configMap(fmt.Sprint("m", n)))
		r.pods.Create(pod(fmt.Sprint("p", n)))
	}
	// AwaitTimeout is long, so a write counts as unseen only if it was lost, not on a busy machine.
	c := r.new(reconcile, controller.Options{Concurrency: 4, Timeout: 5 * time.Millisecond, AwaitTimeout: 2 * time.Minute,
		Tenant: func(key object.Key) string { return key.Name[:2] }},
		controller.For(r.mapInformer).OfKind(mapKind, true), controller.Owns(r.podInformer))
	ctx := klog.NewContext(t.Context(), klog.Logger{})
	deadline := time.Now().Add(2 * time.Second)
	complete := func() bool {
		t := c.Status().Totals
		return t.Panics > 0 && t.Timeouts > 0 && t.Awaited > 0 && t.Again > 0
	}
	for run := 0; time.Now().Before(deadline) || run < 3 || !complete() && run < 100; run++ {
		ctx, cancel := context.WithTimeoutCause(ctx, 300*time.Millisecond, errStop)
		var others sync.WaitGroup
		others.Go(func() {
			for ctx.Err() == nil {
				name := fmt.Sprint("m", rand.IntN(objects))
				switch rand.IntN(4) {
				case 0:
					r.maps.Update(configMap(name))
				case 1:
					r.pods.Update(pod(fmt.Sprint("p", rand.IntN(objects)), ownedBy("v1", "ConfigMap", name)))
				case 2:
					c.Enqueue(object.Key{Namespace: "shop", Name: name})
				case 3:
					_ = c.Status()
				}
			}
		})
		if err := c.Run(ctx); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		cancel()
		others.Wait()
	}
	finishing.Store(true)
	stop := r.start(c)
	countBehind := func() (behind int) {
		for n := range objects {
			if obj, _ := r.maps.Get("shop", fmt.Sprint("m", n)); number(obj.ResourceVersion) > seen[n].Load() {
				behind++
			}
		}
		return behind
	}
	// No event reports the last reconcile, so it is polled.
	for deadline := time.Now().Add(2 * time.Minute); countBehind() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if behind := countBehind(); behind > 0 {
		t.Errorf("the last state of %d objects was not reconciled: %+v", behind, c.Status())
	}
	if err := stop(); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	totals := c.Status().Totals
	if concurrent.Load() > 0 || stale.Load() > 0 {
		t.Errorf("%d reconciles of a running key, %d that read a state before the last write, want none", concurrent.Load(), stale.Load())
	}
	if !complete() || totals.Unseen > 0 {
		t.Errorf("Status().Totals = %+v, want panics, timeouts, awaited and repeated reconciles, and none unseen", totals)
	}
}

// TestStressOfARing grants and revokes a bucket over and over, outside of a bubble, while keys are
// queued. After a revoke, no reconcile runs or begins once Running has returned 0.
func TestStressOfARing(t *testing.T) {
	ring := newHandRing(partition.ByKey, 1)
	var epoch atomic.Uint64 // 0 after a revoke, when Running has returned 0
	var running, began, foreign atomic.Int64
	c, err := controller.New("test", func(ctx context.Context, _ object.Key) (result, error) {
		running.Add(1)
		defer running.Add(-1)
		if began.Add(1); partition.ClaimOf(ctx).Epoch != epoch.Load() {
			foreign.Add(1)
		}
		return result{}, nil
	}, controller.Options{Ring: ring, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	run := informertest.Go(t, c.Run)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for n := range 2 {
		others.Go(func() {
			for ctx.Err() == nil {
				c.Enqueue(object.Key{Name: fmt.Sprint("m", n)}, object.Key{Name: "both"})
				runtime.Gosched()
			}
		})
	}
	for deadline := time.Now().Add(time.Second / 2); time.Now().Before(deadline) || began.Load() < 10; {
		epoch.Store(ring.epoch + 1)
		ring.grant(ring.all())
		for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
			runtime.Gosched()
		}
		ring.hub.Revoke(ring.all())
		for busy, _ := ring.count(ring.all()); busy > 0; busy, _ = ring.count(ring.all()) {
			runtime.Gosched()
		}
		epoch.Store(0)
		if n := running.Load(); n > 0 {
			t.Errorf("%d reconciles run, and Running is 0", n)
		}
	}
	cancel()
	others.Wait()
	_ = run.End()
	if n := foreign.Load(); n > 0 {
		t.Errorf("%d of %d reconciles began in a bucket that was not held", n, began.Load())
	}
}

func number(resourceVersion string) (n int64) {
	_, _ = fmt.Sscan(resourceVersion, &n)
	return n
}
