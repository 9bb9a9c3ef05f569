// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func firstLetter(key string) string { return key[:1] }

// TestFairRules has an example of each rule about tenants, in the commands of TestRules. The first
// letter of a key is its tenant.
func TestFairRules(t *testing.T) {
	paced := exactDelays
	paced.RetryRate, paced.RetryBurst = 10, 2
	for name, rule := range map[string]struct {
		options workqueue.Options
		script  string
	}{
		"tenants take turns": {exactDelays, `add a1, add a2, add a3, add b1, add c1, add b2, ready 6,
			get a1 @0s, get b1 @0s, get c1 @0s, get a2 @0s, get b2 @0s, get a3 @0s, ready 0`},
		"each level has its turns": {exactDelays, `add a1 high, add a2 high, add b1, add b2, add c1 high, add a3, ready 6,
			get a1 @0s high, get c1 @0s high, get a2 @0s high, get b1 @0s, get a3 @0s, get b2 @0s`},
		"a tenant without ready keys loses its turn": {exactDelays, `add a1, add a2, add b1, get a1 @0s, get b1 @0s, add b2, add a3, get a2 @0s, get b2 @0s, get a3 @0s`},
		"a key added while it runs takes a turn":     {exactDelays, `add a1, add a2, get a1 @0s, add a1, add b1, done a1, get a2 @0s, get b1 @0s, get a1 @0s`},
		"a retry keeps its tenant": {exactDelays, `add a1, get a1 @0s, add a2 10ms, add a3 10ms, add b1 10ms, done a1 failed, sleep 10ms,
			get a2 @10ms, get b1 @10ms, get a3 @10ms, get a1 @10ms failures=1`},
		"a raised first key gives up its turn": {exactDelays, `add a1, add a2, add b1, add a1 high, get a1 @0s high, get b1 @0s, get a2 @0s`},
		"a raised later key keeps the turn":    {exactDelays, `add a1, add a2, add b1, add a2 high, get a2 @0s high, get a1 @0s, get b1 @0s`},
		"retries take turns": {paced, `add a1, add a2, add a3, add b1, get a1 @0s, get b1 @0s, get a2 @0s, get a3 @0s,
			done a1 failed, done a2 failed, done a3 failed, done b1 failed, sleep 10ms, get a1 @10ms failures=1, get b1 @10ms failures=1,
			is a2 paced, is a3 paced, add a2, get a2 @10ms failures=1, get a3 @110ms failures=1`},

		"drop": {exactDelays, `add a1, add a2, add a3, add b1, add b2 1m, get a1 @0s, add a1,
			shutdown drop, ready 0, done a1, over, dropped a1 a2 a3 b1 b2`},
		"finish": {exactDelays, `add a1, add a2, add a3, add b1, add b2 1m, get a1 @0s, add a1,
			shutdown finish, add late, get b1 @0s, get a2 @0s, done a1, done a2, done b1, work a3 @0s, over, dropped a1 b2`},
		"drain": {exactDelays, `add a1, add a2, add a3, add b1, add b2 1m, get a1 @0s, add a1,
			shutdown drain, add late, done a1, get b1 @0s, get a2 @0s, get a3 @0s, done a2, done a3, done b1, work a1 @0s, over, dropped b2`},
		"drop failed keys": {paced, `add a1, add a2, add a3, add b1, get a1 @0s, get b1 @0s, get a2 @0s, get a3 @0s,
			done a1 failed, done a2 failed, done a3 failed, done b1 failed, sleep 10ms, shutdown drop, over, dropped a1 a2 a3 b1`},
	} {
		t.Run(name, func(t *testing.T) {
			inFairBubble(t, rule.options, firstLetter, func(k kit) {
				k.play(rule.script)
				if err := k.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestNoTenantStarves: a tenant has 100,000 keys, and four others have a few now and then. The key
// at position p of its tenant and level is handed out within 5·p hand-outs, or 16·5·p if other
// levels have keys.
func TestNoTenantStarves(t *testing.T) {
	const tenants = 5
	for name, levels := range map[string][]workqueue.Level{
		"one level": {workqueue.Normal}, "all levels": {workqueue.High, workqueue.Normal, workqueue.Low},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			q := workqueue.NewFair(exactDelays, func(key int) string { return fmt.Sprint(key % tenants) })
			for n := range 100_000 {
				q.AddWith(n*tenants, at(levels[n%len(levels)]))
			}
			limits := map[int]int{} // of hand-outs, by key
			type place struct {
				tenant int
				level  workqueue.Level
			}
			places, ready := map[int]place{}, map[place]int{}
			for handOut, next := 1, 1; handOut <= 10_000; handOut++ {
				for ; random.IntN(2) == 0; next++ {
					if next%tenants == 0 {
						continue
					}
					p := place{next % tenants, levels[random.IntN(len(levels))]}
					q.AddWith(next, at(p.level))
					ready[p]++
					places[next], limits[next] = p, handOut+tenants*ready[p]
					if len(levels) > 1 {
						limits[next] = handOut + 16*tenants*ready[p]
					}
				}
				item, err := q.Get(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				item.Done(succeeded)
				if limit, small := limits[item.Key]; small && handOut >= limit {
					t.Fatalf("key %d was hand-out %d, want it before %d", item.Key, handOut, limit)
				}
				ready[places[item.Key]]--
				delete(limits, item.Key)
				for key, limit := range limits {
					if handOut >= limit {
						t.Fatalf("key %d was not among %d hand-outs", key, limit)
					}
				}
			}
			if err := q.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKeysKeepTheirTenant: a function that changes its mind doesn't matter while a key is in the
// queue.
func TestKeysKeepTheirTenant(t *testing.T) {
	name := "first"
	inFairBubble(t, exactDelays, func(string) string { return name }, func(k kit) {
		k.Add("a")
		name = "second"
		k.AddWith("a", at(workqueue.High))
		k.get("a", 0).Done(failed)
		k.Add("b")
		k.get("b", 0).Done(succeeded)
		k.Add("a")
		if s := k.Status(); s.Tenants != 1 {
			t.Errorf("%d tenants, want 1", s.Tenants)
		}
		k.get("a", 10*ms).Done(succeeded)
		if err := k.Check(); err != nil {
			t.Error(err)
		}
	})
}

// TestTenantsWithoutKeysAreForgotten: also while other tenants have keys.
func TestTenantsWithoutKeysAreForgotten(t *testing.T) {
	inFairBubble(t, exactDelays, func(key string) string { return key }, func(k kit) {
		want := func(want int) {
			t.Helper()
			if got := k.Status().Tenants; got != want {
				t.Fatalf("%d tenants, want %d", got, want)
			}
		}
		k.AddWith("waits", after(time.Hour))
		for n := range 5000 {
			k.Add(fmt.Sprint(n))
		}
		want(5001)
		for n := range 5000 {
			k.get(fmt.Sprint(n), 0).Done(succeeded)
		}
		want(1)
		k.get("waits", time.Hour).Done(succeeded)
		want(0)
		k.Add("a")
		want(1)
		k.get("a", time.Hour).Done(workqueue.Outcome{Hold: time.Second})
		want(1)
		k.Release("a")
		want(0)
	})
}

// TestPanickingTenantFunction: Add panics, and the queue goes on without the key.
func TestPanickingTenantFunction(t *testing.T) {
	inFairBubble(t, exactDelays, firstLetter, func(k kit) {
		k.Add("a")
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Add did not panic")
				}
			}()
			k.Add("") // has no first letter
		}()
		k.get("a", 0).Done(succeeded)
		if s := k.Status(); s.High+s.Normal+s.Low+s.Tenants != 0 {
			t.Errorf("Status() = %+v, want no key", s)
		}
		k.shutDown(workqueue.Drain)
	})
}

// TestTenantFunctionMayUseTheQueue: it is called without the queue's lock.
func TestTenantFunctionMayUseTheQueue(t *testing.T) {
	var q *workqueue.Queue[string]
	q = workqueue.NewFair(exactDelays, func(string) string { return fmt.Sprint(q.Len()) })
	q.Add("a")
	q.Add("b")
	if s := q.Status(); s.Normal != 2 || s.Tenants != 2 {
		t.Errorf("Status() = %+v, want 2 keys of 2 tenants", s)
	}
}

// TestFairStatus: numbers and the oldest key include keys behind the first one of a tenant.
func TestFairStatus(t *testing.T) {
	m := &recorder{}
	opts := exactDelays
	opts.Metrics, opts.RetryRate, opts.RetryBurst = m, 1, 1
	inFairBubble(t, opts, firstLetter, func(k kit) {
		for _, key := range []string{"a0", "b1", "a2", "a3"} {
			k.Add(key)
			time.Sleep(ms)
		}
		if s, got := k.Status(), m.read(); s.Normal != 4 || got.Depth != [3]int{0, 4, 0} {
			t.Errorf("Status() = %+v, metrics = %+v, want 4 keys at level normal", s, got)
		}
		a0 := k.get("a0", 4*ms)
		b1 := k.get("b1", 4*ms)
		k.Add("b2") // its turn is after a2's
		k.get("a2", 4*ms).Done(succeeded)
		s := k.Status()
		if s.Normal != 2 || s.Tenants != 2 || s.Oldest == nil || s.Oldest.Key != "a3" {
			t.Errorf("Status() = %+v, want 2 keys of 2 tenants, and a3 as the oldest", s)
		}
		if got := m.read(); got.Depth != [3]int{0, 2, 0} || got.Oldest != ms {
			t.Errorf("metrics have %v keys and the oldest for %v, want 2 at level normal, for 1ms", got.Depth, got.Oldest)
		}
		k.get("b2", 4*ms).Done(failed)
		k.get("a3", 4*ms).Done(failed)
		a0.Done(failed)
		b1.Done(failed)
		time.Sleep(10 * ms)
		var got metrics.QueueState
		if s, got = k.Status(), m.read(); s.Paced != 3 || s.Normal != 1 || got.Delayed != 3 || got.Depth[1] != 1 {
			t.Errorf("Status() = %+v, metrics = %+v, want 3 paced keys and a ready one", s, got)
		}
		k.shutDown(workqueue.Drop)
	})
}
