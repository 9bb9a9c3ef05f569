// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

func TestKeysAreHandedOutInOrderOfAdds(t *testing.T) {
	inBubble(t, exactDelays, func(k kit) {
		for n := range 2000 {
			k.Add(fmt.Sprint(n))
		}
		for n := range 2000 {
			k.get(fmt.Sprint(n), 0).Done(succeeded)
		}
	})
}

func TestGetEndsWithItsContext(t *testing.T) {
	inBubble(t, exactDelays, func(k kit) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := k.Get(ctx); !errors.Is(err, why) || time.Since(k.start) != time.Second {
			t.Errorf("Get() = %v after %v, want %v after 1s", err, time.Since(k.start), why)
		}
		k.Add("a")
		none, err := k.Get(ctx)
		if !errors.Is(err, why) {
			t.Errorf("Get() with a ready key = %v, want %v", err, why)
		}
		none.Done(failed) // does nothing
		k.get("a", time.Second).Done(succeeded)
	})
}

// TestKeyOutlivesItsCancelledWorker: if the context of a woken worker ends, another worker gets the
// key.
func TestKeyOutlivesItsCancelledWorker(t *testing.T) {
	for range 300 {
		q := workqueue.New[int](workqueue.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		var got atomic.Int32
		var some, last sync.WaitGroup
		work := func(ctx context.Context) {
			if item, err := q.Get(ctx); err == nil {
				got.Add(1)
				item.Done(succeeded)
			}
		}
		for range 3 {
			some.Go(func() { work(ctx) })
		}
		last.Go(func() { work(context.Background()) })
		some.Go(cancel)
		some.Go(func() { q.Add(1) })
		some.Wait()
		if err := q.ShutDown(context.Background(), workqueue.Finish); err != nil {
			t.Fatal(err)
		}
		last.Wait()
		if got.Load() != 1 {
			t.Fatalf("the key was handed out %d times", got.Load())
		}
	}
}

func TestEveryWorkerIsWoken(t *testing.T) {
	inBubble(t, exactDelays, func(k kit) {
		const workers = 10
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				item, err := k.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				item.Done(succeeded)
			})
		}
		synctest.Wait()
		for n := range workers {
			k.Add(fmt.Sprint(n))
		}
		wg.Wait()
		if took := time.Since(k.start); took != time.Second {
			t.Errorf("%d workers took %v, want 1s", workers, took)
		}
	})
}

// TestIdleQueuesHaveNoGoroutine: a queue has no goroutine, even while a key is delayed. Time stands
// still in the bubble, so no timer has a goroutine either.
func TestIdleQueuesHaveNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		var queues []*workqueue.Queue[string]
		for range 100 {
			q := workqueue.New[string](workqueue.Options{})
			q.Add("a")
			q.AddWith("b", workqueue.AddOptions{After: time.Hour})
			item, err := q.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			item.Done(failed)
			queues = append(queues, q)
		}
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d more goroutines for %d queues, want none", now-before, len(queues))
		}
		runtime.KeepAlive(queues)
	})
}

func TestAddGetDoneAllocatesNothing(t *testing.T) {
	for name, tenantOf := range map[string]func(object.Key) string{
		"New": nil, "NewFair": func(key object.Key) string { return key.Namespace },
	} {
		t.Run(name, func(t *testing.T) { checkAllocs(t, tenantOf) })
	}
}

func checkAllocs(t *testing.T, tenantOf func(object.Key) string) {
	q := workqueue.NewFair(workqueue.Options{Name: "cycle", Limiter: exactDelays.Limiter, RetryRate: -1}, tenantOf)
	q.AddWith(object.Key{Namespace: "shop", Name: "keeps the tenant"}, after(time.Hour))
	keys := make([]object.Key, 1000)
	for n := range keys {
		keys[n] = object.Key{Namespace: "shop", Name: fmt.Sprint("widget-", n)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cycle := func(opts workqueue.AddOptions, outcome workqueue.Outcome) {
		for _, key := range keys {
			q.AddWith(key, opts)
		}
		for q.Len() > 0 {
			item, err := q.Get(ctx)
			if err != nil {
				t.Fatal(err)
			}
			item.Done(outcome)
			q.Release(item.Key)
		}
	}
	for _, tc := range []struct {
		name    string
		opts    workqueue.AddOptions
		outcome workqueue.Outcome
	}{
		{name: "success"},
		{name: "low", opts: workqueue.AddOptions{Level: workqueue.Low}},
		{name: "failure", outcome: failed},
		{name: "after", outcome: workqueue.Outcome{After: time.Minute}},
		{name: "hold", outcome: workqueue.Outcome{Hold: time.Minute}},
		{name: "delayed", opts: workqueue.AddOptions{After: time.Minute}},
	} {
		cycle(tc.opts, tc.outcome) // allocates entries
		if allocs := testing.AllocsPerRun(10, func() { cycle(tc.opts, tc.outcome) }); allocs > 0 {
			t.Errorf("%s: %v allocations for %d keys, want none", tc.name, allocs, len(keys))
		}
	}
}

func TestKeysAreNotKeptAlive(t *testing.T) {
	type thing struct{ _ [64]byte }
	q := workqueue.New[*thing](workqueue.Options{})
	collected := make(chan struct{})
	func() {
		key := &thing{}
		runtime.AddCleanup(key, func(done chan struct{}) { close(done) }, collected)
		q.Add(key)
		item, err := q.Get(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		item.Done(succeeded)
	}()
	deadline := time.After(time.Minute)
	for {
		runtime.GC()
		select {
		case <-collected:
			runtime.KeepAlive(q)
			return
		case <-deadline:
			t.Fatal("the key was not collected")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestEmptyQueueFreesMemory(t *testing.T) {
	q := workqueue.New[int](workqueue.Options{})
	for n := range 100_000 {
		q.Add(n)
	}
	if n := q.Capacity(); n != 100_000 {
		t.Fatalf("Capacity() = %d, want 100,000", n)
	}
	for q.Len() > 0 {
		item, err := q.Get(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		item.Done(succeeded)
	}
	if n := q.Capacity(); n != 0 {
		t.Errorf("Capacity() of the empty queue = %d, want 0", n)
	}
	q.Add(1)
	if err := q.Check(); err != nil || q.Len() != 1 {
		t.Errorf("Len() = %d, want 1; Check() = %v", q.Len(), err)
	}
}

// TestWorkersShareNoKey: many goroutines add keys and work on them, and each key counts its
// workers.
func TestWorkersShareNoKey(t *testing.T) {
	const keys, workers, adders, adds = 20, 8, 4, 3000
	q := workqueue.New[int](workqueue.Options{Limiter: workqueue.Exponential{Base: time.Microsecond}, RetryRate: -1})
	var busy [keys]atomic.Int32
	var added, seen [keys]atomic.Int64 // versions of the objects of the keys
	var working, adding sync.WaitGroup
	for range workers {
		working.Go(func() {
			for n := 0; ; n++ {
				item, err := q.Get(context.Background())
				if err != nil {
					return
				}
				if busy[item.Key].Add(1) != 1 {
					t.Errorf("two workers have key %d", item.Key)
				}
				seen[item.Key].Store(added[item.Key].Load())
				busy[item.Key].Add(-1)
				outcome := []workqueue.Outcome{{}, {Failed: true}, {After: time.Microsecond}, {Hold: time.Microsecond}}[n%4]
				if item.Failures > 0 {
					outcome = succeeded
				}
				item.Done(outcome)
			}
		})
	}
	for range adders {
		adding.Go(func() {
			for n := range adds {
				key := n % keys
				added[key].Add(1)
				q.AddWith(key, workqueue.AddOptions{Level: workqueue.Level(n%3 - 1), After: time.Duration(n%2) * time.Microsecond})
			}
		})
	}
	adding.Wait()
	for idle := false; !idle; time.Sleep(time.Millisecond) {
		s := q.Status()
		idle = s.High+s.Normal+s.Low+s.Delayed+s.Paced+s.Held+len(s.Running) == 0
	}
	if err := q.ShutDown(context.Background(), workqueue.Drain); err != nil {
		t.Error(err)
	}
	working.Wait()
	for key := range keys {
		if seen, added := seen[key].Load(), added[key].Load(); seen != added {
			t.Errorf("the last worker of key %d saw version %d, want %d", key, seen, added)
		}
	}
	if err := q.Check(); err != nil {
		t.Error(err)
	}
}

// TestNoLevelStarves: while other levels always have keys, the key at position p of a level is
// handed out within 16·p hand-outs.
func TestNoLevelStarves(t *testing.T) {
	for _, busy := range [][]workqueue.Level{
		{workqueue.High}, {workqueue.Normal}, {workqueue.High, workqueue.Normal},
	} {
		t.Run(fmt.Sprint(busy), func(t *testing.T) {
			inBubble(t, exactDelays, func(k kit) {
				const waiting = 50
				for n := range waiting {
					k.AddWith(fmt.Sprint("low ", n), at(workqueue.Low))
				}
				since := map[workqueue.Level]int{}
				for n, low := 1, 0; low < waiting; n++ {
					for _, l := range busy {
						k.AddWith(fmt.Sprint(l, " ", n), at(l))
						k.AddWith(fmt.Sprint(l, " ", n, " too"), at(l))
					}
					item, err := k.Get(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					item.Done(succeeded)
					for _, l := range append(busy, workqueue.Low) {
						if since[l]++; since[l] > 16 {
							t.Fatalf("16 hand-outs without a key of level %d", l)
						}
					}
					since[item.Level] = 0
					if strings.HasPrefix(item.Key, "low ") {
						low++
						if item.Key != fmt.Sprint("low ", low-1) || n > 16*low {
							t.Fatalf("hand-out %d was %q, the key at position %d", n, item.Key, low)
						}
					}
				}
			})
		})
	}
}

// TestOldestKeyIsAmongAny16HandOuts: a queue gets more keys than workers take. Any 16 hand-outs
// include the key that had been ready for longest.
func TestOldestKeyIsAmongAny16HandOuts(t *testing.T) {
	inBubble(t, exactDelays, func(k kit) {
		levels := []workqueue.Level{workqueue.High, workqueue.High, workqueue.Normal, workqueue.High, workqueue.Low}
		without := 0
		for n := range 3000 {
			time.Sleep(time.Microsecond)
			k.AddWith(fmt.Sprint(n), at(levels[n%len(levels)]))
			if n%2 == 0 {
				continue
			}
			oldest := k.Status().Oldest.Key
			item, err := k.Get(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			item.Done(succeeded)
			if without++; item.Key == oldest {
				without = 0
			}
			if without >= 16 {
				t.Fatalf("16 hand-outs without the oldest key, %s", oldest)
			}
		}
	})
}

func TestLevelsAsText(t *testing.T) {
	all, err := json.Marshal([]workqueue.Level{workqueue.Low - 1, workqueue.Low, workqueue.Normal, workqueue.High, workqueue.High + 1})
	if want := `["low","low","normal","high","high"]`; err != nil || string(all) != want {
		t.Errorf("json.Marshal() = %s, %v, want %s", all, err, want)
	}
}
