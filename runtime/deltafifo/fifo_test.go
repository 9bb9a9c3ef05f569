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

func TestPopReturnsAllInOrder(t *testing.T) {
	f := deltafifo.New[obj](0)
	push(t, f, "a", "b", "|")
	push(t, f, "a", "a")
	if n := f.Len(); n != 5 {
		t.Errorf("Len() = %d, want 5", n)
	}
	all, err := f.Pop(t.Context(), nil)
	if err != nil || names(all) != "ab|aa" || f.Len() != 0 {
		t.Errorf("Pop = %q, %v, leaving %d, want ab|aa and none left", names(all), err, f.Len())
	}
	clear(all)
	push(t, f, "c")
	if again, err := f.Pop(t.Context(), all[:0]); err != nil || names(again) != "c" {
		t.Errorf("Pop = %q, %v, want c", names(again), err)
	}
	push(t, f, "d")
	if next, err := f.Pop(t.Context(), nil); err != nil || names(next) != "d" || &next[0] != &all[0] {
		t.Errorf("Pop = %q, %v, want d in the memory given back to the queue", names(next), err)
	}
}

// TestPushBlocksWhileFull pushes more deltas than the capacity. They keep their order, and the rest
// waits for room or for Close.
func TestPushBlocksWhileFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := deltafifo.New[obj](3)
		pushed := make(chan error, 1)
		go func() { pushed <- f.Push(deltas("a", "b", "c", "d", "e", "f", "g", "h")) }()
		synctest.Wait()
		if f.Len() != 3 || len(pushed) != 0 {
			t.Fatalf("%d deltas wait and %d calls of Push have returned, want 3 and 0", f.Len(), len(pushed))
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
			t.Errorf("popped %q, leaving %d, and Push returned %v; want abcdef, 2 and nil", got, f.Len(), err)
		}
		go func() { pushed <- f.Push(deltas("i", "j")) }()
		synctest.Wait()
		f.Close()
		if err := <-pushed; err != deltafifo.ErrClosed {
			t.Errorf("Push returned %v after Close, want ErrClosed", err)
		}
		if err := f.Push(nil); err != nil {
			t.Errorf("Push(nil) = %v after Close, want nil", err)
		}
		f.Close()
		if all, err := f.Pop(t.Context(), nil); err != nil || names(all) != "ghi" {
			t.Errorf("Pop = %q, %v after Close, want ghi", names(all), err)
		}
		if _, err := f.Pop(t.Context(), nil); err != deltafifo.ErrClosed {
			t.Errorf("Pop of a closed and empty queue = %v, want ErrClosed", err)
		}
	})
}

func TestPopReturnsWhenContextIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, cause := deltafifo.New[obj](0), errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := f.Pop(ctx, nil); ended <- err }()
		synctest.Wait()
		cancel(cause)
		if err := <-ended; err != cause {
			t.Errorf("Pop = %v, want the cause %v", err, cause)
		}
		push(t, f, "a")
		if _, err := f.Pop(ctx, nil); err != cause || f.Len() != 1 {
			t.Errorf("Pop = %v, leaving %d deltas, want %v and 1", err, f.Len(), cause)
		}
		var none context.Context
		if _, err := f.Pop(none, nil); err == nil || f.Len() != 1 {
			t.Errorf("Pop(nil) = %v, leaving %d deltas, want an error and 1", err, f.Len())
		}
	})
}

// TestCloseWakesAll closes a queue while several goroutines wait in Pop, or in Push.
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
					t.Fatalf("%s returned %v before Close", name, <-errs)
				}
				f.Close()
				for range cap(errs) {
					if err := <-errs; err != deltafifo.ErrClosed {
						t.Errorf("%s = %v, want ErrClosed", name, err)
					}
				}
			})
		})
	}
}

// TestNoWakeIsLost pushes and pops in many goroutines, through a small queue. Some calls of Pop
// time out. A lost wake-up would be a deadlock, which ends the bubble. The deltas of each stream
// stay in order.
func TestNoWakeIsLost(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		const streams, consumers, each = 4, 3, 500
		f := deltafifo.New[obj](2)
		var producers, popping sync.WaitGroup
		popped := make([][]delta, consumers)
		for n := range consumers {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			popping.Go(func() {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(3))*time.Millisecond)
					batch, err := f.Pop(ctx, nil)
					cancel()
					popped[n] = append(popped[n], batch...)
					if errors.Is(err, deltafifo.ErrClosed) {
						return
					}
				}
			})
		}
		for stream := range streams {
			r := rand.New(rand.NewPCG(seed, uint64(consumers+stream)))
			producers.Go(func() {
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
		producers.Wait()
		f.Close()
		popping.Wait()
		all := 0
		for _, batch := range popped {
			last := map[uint64]string{}
			for _, d := range batch {
				if d.ResourceVersion <= last[d.Stream] {
					t.Errorf("stream %d: Pop returns %s after %s", d.Stream, d.ResourceVersion, last[d.Stream])
				}
				last[d.Stream] = d.ResourceVersion
			}
			all += len(batch)
		}
		if all != streams*each {
			t.Errorf("%d deltas were popped, want %d", all, streams*each)
		}
	})
}

func TestTypeString(t *testing.T) {
	for kind, want := range map[deltafifo.Type]string{deltafifo.Added: "ADDED", deltafifo.Bookmark: "BOOKMARK", deltafifo.ReplaceAborted: "REPLACE_ABORTED", 0: "UNKNOWN", 99: "UNKNOWN"} {
		if got := kind.String(); got != want {
			t.Errorf("Type(%d).String() = %s, want %s", kind, got, want)
		}
	}
}
