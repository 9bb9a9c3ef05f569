// SPDX-License-Identifier: Apache-2.0

package local

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// Watches of either side get what they ask for, and no more.
func TestWatches(t *testing.T) {
	for _, side := range []harness.Side{harness.Ours, Cacher} {
		t.Run(string(side), func(t *testing.T) {
			c, err := New(side, widget.Set{Len: 10, Nodes: 5})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			watches := []struct {
				watch Watch
				got   atomic.Int64
				want  int64
			}{
				{watch: Watch{}, want: 100},
				{watch: Watch{Bytes: true}, want: 100},
				{watch: Watch{Node: widget.Node(3), Bytes: true}, want: 20},
			}
			for i := range watches {
				w := &watches[i]
				w.watch.Events = func(n int) { w.got.Add(int64(n)) }
				w.watch.Ended = func() { t.Error("a watch was ended") }
				if err := c.Watch(w.watch); err != nil {
					t.Fatal(err)
				}
			}
			c.Prepare(100)
			// A count can only be polled.
			await := func(got *atomic.Int64, want int64) {
				for began := time.Now(); got.Load() < want && time.Since(began) < time.Minute; {
					time.Sleep(100 * time.Microsecond)
				}
			}
			for n := range int64(100) {
				c.Change()
				// One after the other, since the cacher ends a watch that is behind.
				await(&watches[0].got, n+1)
				await(&watches[1].got, n+1)
			}
			for i := range watches {
				w := &watches[i]
				await(&w.got, w.want)
				if got := w.got.Load(); got != w.want {
					t.Errorf("%+v has got %d events, want %d", w.watch, got, w.want)
				}
			}
		})
	}
}

func TestOneSideOnly(t *testing.T) {
	if _, err := New(harness.ClientGo, widget.Unlike(1)); err == nil {
		t.Error("there is a watch cache of client-go")
	}
}
