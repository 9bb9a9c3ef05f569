// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestConcurrentUseOfAllMethods calls all methods at once, also from callbacks, while full states
// and changes come in and runs begin and end. It is for the race detector, and for deadlocks, in
// which it would not end. The recorder checks the events of each handler. No check depends on the
// order of goroutines.
func TestConcurrentUseOfAllMethods(t *testing.T) {
	var readers []*script
	i, err := New(Config{
		Name: "things", Streams: []intake.StreamConfig{{Namespace: "ns"}, {Namespace: "other"}},
		SourceIn: func(string) (source.Source[object.Object], error) { return nil, nil },
		connect: func(s *intake.Stream) (intake.Reader, error) {
			if s.Namespace() == "third" {
				return busyReader{s.Sink()}, nil
			}
			readers = append(readers, newScript(s))
			return readers[len(readers)-1], nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	repeat := func(n uint64, f func(rng *rand.Rand)) {
		group.Go(func() {
			for rng := rand.New(rand.NewPCG(seed, n)); ctx.Err() == nil; {
				f(rng)
				runtime.Gosched() // otherwise it keeps a single processor for 10 ms
			}
		})
	}
	repeat(1, func(rng *rand.Rand) {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(20))*time.Millisecond)
		defer cancel()
		if err := i.Run(ctx); err != context.DeadlineExceeded && err != context.Canceled && err != ErrRunning {
			t.Error(err)
		}
	})
	repeat(5, func(*rand.Rand) {
		if err := errors.Join(i.AddNamespace("third"), i.RemoveNamespace(context.Background(), "third")); err != nil {
			t.Error(err)
		}
	})
	repeat(6, func(rng *rand.Rand) {
		if err := i.AddNamespace("third"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Duration(rng.IntN(3)) * time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(3))*time.Millisecond)
		defer cancel()
		_ = i.RemoveNamespace(ctx, "third") // fails if the stream has not ended yet
	})
	repeat(4, func(rng *rand.Rand) {
		leaseCtx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(5))*time.Millisecond)
		defer cancel()
		l, err := i.Acquire(leaseCtx)
		if err != nil {
			if leaseCtx.Err() == nil {
				t.Error(err)
			}
			return
		}
		if rng.IntN(2) == 0 {
			<-leaseCtx.Done()
		}
		_ = l.Release(leaseCtx) // fails if a callback is still running
		if rng.IntN(2) == 0 {
			<-l.Done()
		}
	})
	added := byName()
	repeat(2, func(rng *rand.Rand) {
		h := newRecorder(t)
		var sub atomic.Pointer[fanout.Subscription]
		n := 0
		h.before = func(string) {
			switch n++; {
			case n%7 == 0:
				_, _ = i.Handlers(), i.AddIndexes(added)
			case n%50 == 0 && sub.Load() != nil:
				sub.Load().Remove()
			}
		}
		s, err := i.AddHandler(h, fanout.HandlerConfig{Threshold: []int{fanout.Never, 0, 3, 100}[rng.IntN(4)], Resync: time.Duration(rng.IntN(2)) * time.Millisecond})
		if err != nil {
			t.Error(err)
			return
		}
		sub.Store(s)
		if rng.IntN(4) > 0 {
			time.Sleep(time.Duration(rng.IntN(3)) * time.Millisecond)
			group.Go(s.Remove)
		}
		s.Remove()
	})
	repeat(3, func(rng *rand.Rand) {
		name := fmt.Sprint("By", rng.IntN(20))
		// fails if the name is in use
		_ = i.AddIndexes(store.NewIndex(name, func(_ object.Object, keys []string) []string { return append(keys, name) }))
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, _ = i.AwaitResourceVersion(ctx, fmt.Sprint(rng.IntN(50_000))), i.Obstacles()
		key := keyOf([]string{"ns", "other"}[rng.IntN(2)], string(rune('a'+rng.IntN(20))))
		_ = i.AwaitDeleted(ctx, key, "1", fmt.Sprint(rng.IntN(50_000)))
		_, _, _ = i.Streams(), i.Changed(), WaitForCacheSync(ctx, nil, Wait{Informer: i})
	})

	rng := rand.New(rand.NewPCG(seed, 0))
	version := 0
	send := func(n int, word string) {
		version++
		word = fmt.Sprintf("%s%c/%d@%d", word, 'a'+rng.IntN(20), rng.IntN(3), version)
		readers[n].steps <- func(s *intake.Sink) error {
			_ = sendIn(s, readers[n].namespace, word) // fails if the run has ended
			return nil
		}
	}
	for range 300 {
		n := rng.IntN(2)
		if rng.IntN(5) == 0 {
			send(n, "[")
			for range rng.IntN(30) {
				send(n, "=")
			}
			send(n, []string{"!", "]"}[rng.IntN(2)])
		}
		for range rng.IntN(100) {
			send(rng.IntN(2), []string{"+", "~", "-", "|"}[rng.IntN(4)])
		}
	}
	cancel()
	group.Wait()
}

// busyReader is a reader that sends full states, and changes between them, without a pause.
type busyReader struct{ sink *intake.Sink }

func (b busyReader) Run(ctx context.Context) error {
	for n := 1; ctx.Err() == nil; n++ {
		for _, word := range []string{"[", "=a/1@%d", "=b/%d@1", "]@%d", "~a/1@%d1", "+c/%d@1"} {
			if err := sendIn(b.sink, "third", strings.ReplaceAll(word, "%d", fmt.Sprint(n))); err != nil {
				return nil //nolint:nilerr // the queue is closed
			}
		}
		if err := b.sink.Flush(); err != nil {
			return nil //nolint:nilerr // the same
		}
		runtime.Gosched() // otherwise it keeps a single processor for 10 ms
	}
	return nil
}

func (b busyReader) Status() reflector.Status { return reflector.Status{} }
