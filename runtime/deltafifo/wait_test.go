// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestCloseWakesAll has several goroutines wait on both sides of the queue.
func TestCloseWakesAll(t *testing.T) {
	consume := map[string]func(*fifo) error{
		"PopBatch": func(f *fifo) error { _, err := f.PopBatch(context.Background(), nil); return err },
		"Pop":      func(f *fifo) error { return f.Pop(context.Background(), func(object.Key, deltas) error { return nil }) },
		"Add":      func(f *fifo) error { return f.Add(thing("b", "2")) },
	}
	for name, wait := range consume {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := deltafifo.New(deltafifo.Options[obj]{Capacity: 1})
				if name == "Add" {
					feed(t, f, "+a@1")
				}
				errs := make(chan error, 3)
				for range cap(errs) {
					go func() { errs <- wait(f) }()
				}
				synctest.Wait()
				if len(errs) > 0 {
					t.Fatalf("didn't wait: %v", <-errs)
				}
				f.Close()
				synctest.Wait()
				if len(errs) != cap(errs) {
					t.Fatalf("%d of %d have ended", len(errs), cap(errs))
				}
				for range cap(errs) {
					if err := <-errs; !errors.Is(err, deltafifo.ErrClosed) {
						t.Errorf("got %v", err)
					}
				}
			})
		})
	}
}

// TestCancelledConsumerLosesNoDelta cancels the consumer that was woken, in the same moment:
// another one must get the delta.
func TestCancelledConsumerLosesNoDelta(t *testing.T) {
	for range 100 { // select chooses at random
		synctest.Test(t, func(t *testing.T) {
			f := deltafifo.New(deltafifo.Options[obj]{})
			taken := 0
			consume := func(ctx context.Context) {
				if batch, err := f.PopBatch(ctx, nil); err == nil {
					taken += len(batch)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			go consume(ctx)
			synctest.Wait()
			go consume(t.Context())
			synctest.Wait()
			feed(t, f, "+a@1")
			cancel()
			synctest.Wait()
			if taken != 1 {
				t.Errorf("%d deltas were taken, want 1", taken)
			}
			f.Close()
		})
	}
}

// TestNoGoroutineMissesAWake has many goroutines add to and take from a small queue, some of which
// give up now and then. The bubble would end in a deadlock if one of them wasn't woken.
func TestNoGoroutineMissesAWake(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		const fillers, consumers, each = 4, 4, 500
		f := deltafifo.New(deltafifo.Options[obj]{Capacity: 2})
		var filling, emptying sync.WaitGroup
		taken := make([]int, consumers)
		for n := range consumers {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			emptying.Go(func() {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(3))*time.Millisecond)
					batch, err := f.PopBatch(ctx, nil)
					cancel()
					taken[n] += len(batch)
					if errors.Is(err, deltafifo.ErrClosed) {
						return
					}
				}
			})
		}
		for n := range fillers {
			r := rand.New(rand.NewPCG(seed, uint64(consumers+n)))
			filling.Go(func() {
				for range each {
					if r.IntN(10) == 0 {
						time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					}
					if err := f.Add(thing("a", "1")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		filling.Wait()
		f.Close()
		emptying.Wait()
		all := 0
		for _, n := range taken {
			all += n
		}
		if all != fillers*each {
			t.Errorf("%d deltas were taken, want %d", all, fillers*each)
		}
	})
}

// TestWaitingAllocatesNothing takes events that come one at a time.
func TestWaitingAllocatesNothing(t *testing.T) {
	f := deltafifo.New(deltafifo.Options[obj]{})
	o, taken, done := thing("a", "1"), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var batch []delta
		for {
			var err error
			if batch, err = f.PopBatch(context.Background(), batch[:0]); err != nil {
				return
			}
			taken <- struct{}{}
		}
	}()
	if n := testing.AllocsPerRun(1000, func() {
		if err := f.Update(o); err != nil {
			t.Error(err)
		}
		<-taken
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
	f.Close()
	<-done
}

// TestFullStateLeavesNoRoom shows that a queue frees the room that a full state has needed, which
// is usually the most that it ever needs.
func TestFullStateLeavesNoRoom(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	queues := make([]*fifo, 100)
	for i := range queues {
		f := deltafifo.New(deltafifo.Options[obj]{})
		for n := range 1000 {
			if err := f.Replace(thing(fmt.Sprint(n), "1")); err != nil {
				t.Fatal(err)
			}
		}
		feed(t, f, "]@1")
		if batch, err := f.PopBatch(t.Context(), nil); len(batch) != 1001 || err != nil {
			t.Fatal(len(batch), err)
		}
		queues[i] = f
	}
	if each := (int64(heap()) - int64(before)) / int64(len(queues)); each > 2000 {
		t.Errorf("an empty queue takes %d bytes", each)
	}
	runtime.KeepAlive(queues)
}
