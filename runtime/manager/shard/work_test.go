// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestWork moves a bucket as the ring does, and looks at the reconciles of another library.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(&rest.Config{}, Options{Name: "widgets"})
		if err != nil {
			t.Fatal(err)
		}
		hub, work := r.Hub(), r.NewWork()
		blue, red := object.Meta{Namespace: "blue", Name: "a"}, object.Meta{Namespace: "red", Name: "a"}
		bucket := hub.BucketOf(blue)
		if bucket == hub.BucketOf(red) {
			t.Fatal("one bucket for both; take other names")
		}
		set := partition.SetOf(hub.Buckets, func(b int) bool { return b == bucket })
		begin := func(o object.Meta, want bool) (context.Context, func()) {
			t.Helper()
			ctx, done, ok := work.Begin(t.Context(), o)
			if ok != want || (done != nil) != want || (ctx != nil) != want {
				t.Fatalf("Begin of %v returned %t, want %t", o, ok, want)
			}
			return ctx, done
		}
		hub.Grant(map[int]uint64{bucket: 4})
		begin(blue, false) // before Run

		queued, left := "", false
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			work.Run(ctx, func(granted func(object.Meta) bool) {
				queued += fmt.Sprintf("blue %t, red %t;", granted(blue), granted(red))
			})
			left = true
		}()
		synctest.Wait()
		first, endFirst := begin(blue, true)
		begin(red, false)
		if epoch, ok := EpochOf(first); epoch != 4 || !ok {
			t.Errorf("the epoch is %d, %t; want 4", epoch, ok)
		}
		if _, ok := EpochOf(t.Context()); ok {
			t.Error("a context without a reconcile has an epoch")
		}
		if n := hub.Workers()[0].Running(bucket); n != 1 {
			t.Errorf("%d reconciles run, want 1", n)
		}

		hub.Revoke(set)
		begin(blue, false)
		if first.Err() != nil {
			t.Error("a reconcile was cancelled within Grace")
		}
		hub.Cancel(set)
		synctest.Wait()
		if !errors.Is(context.Cause(first), ErrNotOwned) {
			t.Errorf("the cause is %v", context.Cause(first))
		}
		changed := hub.Changed()
		endFirst()
		select {
		case <-changed:
		default:
			t.Error("the ring was not told of the reconcile's end")
		}

		hub.Grant(map[int]uint64{bucket: 5})
		synctest.Wait()
		if want := "blue true, red false;blue true, red false;"; queued != want {
			t.Errorf("queued %s, want %s", queued, want)
		}
		_, endSecond := begin(blue, true)
		cancel()
		synctest.Wait()
		begin(blue, false)
		if left {
			t.Error("Run has returned before its reconcile")
		}
		endSecond()
		synctest.Wait()
		if !left || len(hub.Workers()) != 0 {
			t.Error("Run has not returned, or the ring still knows the controller")
		}
	})
}

// TestWorkByUID: an object without a UID has no bucket.
func TestWorkByUID(t *testing.T) {
	r, err := New(&rest.Config{}, Options{Name: "widgets", By: ByUID})
	if err != nil {
		t.Fatal(err)
	}
	epochs := map[int]uint64{}
	for b := range r.Hub().Buckets {
		epochs[b] = 1
	}
	r.Hub().Grant(epochs)
	work := r.NewWork()
	work.claims.Join(worker{work.claims})
	if _, _, ok := work.Begin(t.Context(), object.Meta{Namespace: "shop", Name: "a"}); ok {
		t.Error("Begin without a UID returned true")
	}
	_, done, ok := work.Begin(t.Context(), object.Meta{Namespace: "shop", Name: "a", UID: "1"})
	if !ok {
		t.Fatal("Begin with a UID returned false")
	}
	done()
}
