// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	obj   = *metav1.PartialObjectMetadata
	delta = deltafifo.Delta[obj]
)

// deltas returns one delta for each name: about an object, or a bookmark if the name is "|".
func deltas(names ...string) []delta {
	var all []delta
	for _, name := range names {
		d := delta{Type: deltafifo.Bookmark, ResourceVersion: "9"}
		if name != "|" {
			o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: "1"}}
			d = delta{Type: deltafifo.Modified, Key: object.KeyOf(o), Object: o, ResourceVersion: "1"}
		}
		all = append(all, d)
	}
	return all
}

func names(all []delta) (text string) {
	for _, d := range all {
		if text += d.Key.Name; d.Object == nil {
			text += "|"
		}
	}
	return text
}

func push(t *testing.T, f *deltafifo.DeltaFIFO[obj], names ...string) {
	t.Helper()
	if err := f.Push(deltas(names...)); err != nil {
		t.Error(err)
	}
}

func TestPopTakesAllInOrder(t *testing.T) {
	f := deltafifo.New[obj](0)
	push(t, f, "a", "b", "|")
	push(t, f, "a", "a")
	if n := f.Len(); n != 5 {
		t.Errorf("%d deltas wait", n)
	}
	all, err := f.Pop(t.Context(), nil)
	if err != nil || names(all) != "ab|aa" || f.Len() != 0 {
		t.Errorf("got %q, %v; %d are left", names(all), err, f.Len())
	}
	clear(all)
	push(t, f, "c")
	if again, err := f.Pop(t.Context(), all[:0]); err != nil || names(again) != "c" {
		t.Errorf("got %q, %v", names(again), err)
	}
	push(t, f, "d")
	if next, err := f.Pop(t.Context(), nil); err != nil || names(next) != "d" || &next[0] != &all[0] {
		t.Errorf("got %q, %v, in memory that the consumer has not given", names(next), err)
	}
}

// TestAFullQueueBlocksThoseWhoPush has them push more than there is room for: the order stays, and
// what is left waits for room, or for Close.
func TestAFullQueueBlocksThoseWhoPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New[obj](3)
		pushed := make(chan error, 1)
		go func() { pushed <- f.Push(deltas("a", "b", "c", "d", "e", "f", "g", "h")) }()
		synctest.Wait()
		if f.Len() != 3 || len(pushed) != 0 {
			t.Fatalf("%d deltas wait, and %d calls have returned", f.Len(), len(pushed))
		}
		got := ""
		for range 2 {
			all, err := f.Pop(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got += names(all)
			synctest.Wait()
		}
		if err := <-pushed; err != nil || got != "abcdef" || f.Len() != 2 {
			t.Errorf("popped %q, %d left, Push returned %v", got, f.Len(), err)
		}
		go func() { pushed <- f.Push(deltas("i", "j")) }()
		synctest.Wait()
		f.Close()
		if err := <-pushed; err != deltafifo.ErrClosed {
			t.Errorf("got %v, want ErrClosed", err)
		}
		if err := f.Push(nil); err != nil {
			t.Errorf("nothing was pushed, and it failed: %v", err)
		}
		f.Close()
		if all, err := f.Pop(t.Context(), nil); err != nil || names(all) != "ghi" {
			t.Errorf("what is left: %q, %v", names(all), err)
		}
		if _, err := f.Pop(t.Context(), nil); err != deltafifo.ErrClosed {
			t.Errorf("closed and empty: %v", err)
		}
	})
}

func TestPopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, why := deltafifo.New[obj](0), errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := f.Pop(ctx, nil); ended <- err }()
		synctest.Wait()
		cancel(why)
		if err := <-ended; err != why {
			t.Errorf("got %v", err)
		}
		push(t, f, "a")
		if _, err := f.Pop(ctx, nil); err != why || f.Len() != 1 {
			t.Errorf("got %v, %d deltas wait", err, f.Len())
		}
		var none context.Context
		if _, err := f.Pop(none, nil); err == nil || f.Len() != 1 {
			t.Errorf("a nil context: %v, %d deltas wait", err, f.Len())
		}
	})
}

// TestCloseWakesAll has several goroutines wait on either side of the queue.
func TestCloseWakesAll(t *testing.T) {
	for name, wait := range map[string]func(f *deltafifo.DeltaFIFO[obj]) error{
		"Pop":  func(f *deltafifo.DeltaFIFO[obj]) error { _, err := f.Pop(context.Background(), nil); return err },
		"Push": func(f *deltafifo.DeltaFIFO[obj]) error { return f.Push(deltas("b", "c")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := deltafifo.New[obj](1)
				errs := make(chan error, 3)
				for range cap(errs) {
					go func() { errs <- wait(f) }()
				}
				synctest.Wait()
				if len(errs) > 0 {
					t.Fatalf("didn't wait: %v", <-errs)
				}
				f.Close()
				for range cap(errs) {
					if err := <-errs; err != deltafifo.ErrClosed {
						t.Errorf("got %v", err)
					}
				}
			})
		})
	}
}

// TestNoGoroutineMissesAWake has many goroutines push to and pop from a small queue, some of which
// give up now and then. The bubble would end in a deadlock if one of them wasn't woken. Each
// goroutine's deltas come out in order.
func TestNoGoroutineMissesAWake(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		const streams, consumers, each = 4, 3, 500
		f := deltafifo.New[obj](2)
		var filling, emptying sync.WaitGroup
		taken := make([][]delta, consumers)
		for n := range consumers {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			emptying.Go(func() {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(3))*time.Millisecond)
					batch, err := f.Pop(ctx, nil)
					cancel()
					taken[n] = append(taken[n], batch...)
					if errors.Is(err, deltafifo.ErrClosed) {
						return
					}
				}
			})
		}
		for stream := range streams {
			r := rand.New(rand.NewPCG(seed, uint64(consumers+stream)))
			filling.Go(func() {
				for n := range each {
					if r.IntN(10) == 0 {
						time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					}
					d := delta{Stream: uint64(stream), Type: deltafifo.Bookmark, ResourceVersion: fmt.Sprintf("%04d", n)}
					if err := f.Push([]delta{d}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		filling.Wait()
		f.Close()
		emptying.Wait()
		all := 0
		for _, mine := range taken {
			last := map[uint64]string{}
			for _, d := range mine {
				if d.ResourceVersion <= last[d.Stream] {
					t.Errorf("stream %d: %s after %s", d.Stream, d.ResourceVersion, last[d.Stream])
				}
				last[d.Stream] = d.ResourceVersion
			}
			all += len(mine)
		}
		if all != streams*each {
			t.Errorf("%d deltas were taken, want %d", all, streams*each)
		}
	})
}

func TestTypesHaveNames(t *testing.T) {
	for kind, want := range map[deltafifo.Type]string{deltafifo.Added: "ADDED", deltafifo.Bookmark: "BOOKMARK", deltafifo.ReplaceAborted: "REPLACE_ABORTED", 0: "UNKNOWN", 99: "UNKNOWN"} {
		if got := kind.String(); got != want {
			t.Errorf("%d is called %s", kind, got)
		}
	}
}
