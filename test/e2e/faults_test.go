// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// TestExpiredWatch lets the informer's last version expire, while objects are created, changed and
// deleted.
func TestExpiredWatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		flags  []string
		expire func(ctx context.Context, c *cluster) error
		opts   []informer.Option
	}{
		{"watch cache, watch-list", nil, expireWatches, nil},
		{"watch cache, pages", nil, expireWatches, []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 7})}},
		{"etcd, watch-list", []string{"--no-watch-cache"}, compact, nil},
		{"etcd, pages", []string{"--no-watch-cache"}, compact, []informer.Option{informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 7})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, tt.flags...)
			ns := c.crates(t)
			ns.createMany(t, 30)
			p := newProxy(t, c.url, nil)
			f, i := crateInformer(t, p.url, ns, tt.opts...)
			h, _ := listen(t, i)
			runSynced(t, f)
			h.await("30 adds", func() bool { return len(h.lines) == 30 })

			// The proxy holds the next watch back until its resourceVersion is too old.
			p.disconnect(t)
			ns.setWeight(t, "crate-001", 1)
			ns.delete(t, "crate-002")
			ns.delete(t, "crate-003")
			ns.create(t, crate("crate-003"))
			ns.create(t, crate("crate-new"))
			if err := tt.expire(deadline(t), c); err != nil {
				t.Fatal(err)
			}
			p.setFaults(nil)
			p.cut()
			for n := range 10 { // during the relist
				ns.setWeight(t, fmt.Sprintf("crate-%03d", 10+n), 2)
				ns.delete(t, fmt.Sprintf("crate-%03d", 20+n))
			}
			agree(t, ns.state(t), h, i.Store())
			// Handlers may be called before the reflector counts the relist.
			awaitStatus(t, i, "watching", watching)
			if n := i.Status().Reflector.Relists; n != 1 {
				t.Errorf("the informer has %d relists, want 1: its version expired never or more than once", n)
			}
			lines := strings.Join(h.callbacks(), "\n") + "\n"
			for _, line := range []string{"delete crate-002 unseen\n", "delete crate-003 unseen\nadd crate-003\n"} {
				if !strings.Contains(lines, line) {
					t.Errorf("the callbacks lack %q", line)
				}
			}
			if n := strings.Count(lines, "crate-000\n"); n != 1 {
				t.Errorf("%d callbacks for crate-000, which never changed, want 1", n)
			}

			// Once more, with changes all the time.
			expired := make(chan error, 1)
			go func() { expired <- tt.expire(deadline(t), c) }()
			for n := int64(10); ; n++ {
				ns.setWeight(t, "crate-000", n)
				ns.delete(t, "crate-new")
				ns.create(t, crate("crate-new"))
				if len(expired) > 0 {
					break
				}
			}
			if err := <-expired; err != nil {
				t.Fatal(err)
			}
			agree(t, ns.state(t), h, i.Store())
		})
	}
}

func expireWatches(ctx context.Context, c *cluster) error { return c.child.ExpireWatches(ctx) }

func compact(ctx context.Context, c *cluster) error {
	if _, err := c.child.Compact(ctx); err != nil {
		return err
	}
	_, err := c.child.EndWatches(ctx)
	return err
}

// TestCompactionToTheNextChange: after a compaction to the very next change, the API server has
// lost the old state of its object. It ends each watch at this change with an internal error. Only
// a relist helps.
func TestCompactionToTheNextChange(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--no-watch-cache")
	ns := c.crates(t)
	ns.create(t, crate("blue"))
	p := newProxy(t, c.url, nil)
	f, i := crateInformer(t, p.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)
	p.disconnect(t)
	ns.setWeight(t, "blue", 1)
	if err := compact(deadline(t), c); err != nil {
		t.Fatal(err)
	}
	p.setFaults(nil)
	p.cut()
	h.wantLines(0, "add blue", "update blue")
	agree(t, ns.state(t), h, i.Store())
	ns.setWeight(t, "blue", 2)
	h.wantLines(2, "update blue")
}

// TestServerRestart stops the server and starts it again with the same data. The informer misses no
// change, neither from just before the end nor from before it reconnects.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, c *cluster) error{
		"stopped": func(ctx context.Context, c *cluster) error { return c.child.Quit(ctx) },
		"killed":  func(_ context.Context, c *cluster) error { c.child.Kill(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			ns := c.crates(t)
			ns.createMany(t, 20)
			f, i := crateInformer(t, c.url, ns)
			h, _ := listen(t, i)
			runSynced(t, f)
			ns.setWeight(t, "crate-000", 1)
			ns.delete(t, "crate-001")
			if err := end(deadline(t), c); err != nil {
				t.Fatal(err)
			}
			awaitStatus(t, i, "cut off", func(s informer.Status) bool { return s.Reflector.Reason == reason.Unreachable })
			if n := i.Store().Snapshot().Len(); n < 19 || !i.HasSynced() {
				t.Errorf("without the server the store has %d objects, synced: %v", n, i.HasSynced())
			}
			c.startAgain(t)
			ns.setWeight(t, "crate-002", 2)
			ns.delete(t, "crate-003")
			ns.create(t, crate("crate-003"))
			ns.delete(t, "crate-004")
			ns.create(t, crate("crate-new"))
			agree(t, ns.state(t), h, i.Store())
			ns.setWeight(t, "crate-005", 5)
			h.awaitLine("update crate-005")
		})
	}
}

// TestCRDInstalledLater installs the CRD when the informer runs already.
func TestCRDInstalledLater(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ns := collection{c, laterCrates, "later"}
	f, i := crateInformer(t, c.url, ns)
	h, _ := listen(t, i)
	run(t, f)
	awaitStatus(t, i, "told 404", func(s informer.Status) bool { return s.Reflector.Reason == reason.NotFound })
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := f.WaitForCacheSync(ctx); !apierrors.IsNotFound(err) {
		t.Errorf("WaitForCacheSync() = %v, want NotFound", err)
	}
	c.installLater(t)
	if err := f.WaitForCacheSync(deadline(t)); err != nil {
		t.Fatal(err)
	}
	ns.createSoon(t, "blue")
	h.wantLines(0, "add blue")
	agree(t, ns.state(t), h, i.Store())
}
