// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// busy is a worker with one reconcile of each bucket that it was ever granted; they end when the
// test says so.
type busy struct {
	mu        sync.Mutex // mu guards the fields below
	running   map[int]bool
	cancelled map[int]bool
}

func (b *busy) Grant(buckets partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range buckets.All() {
		b.running[n] = true
	}
}

func (b *busy) Revoke(partition.Set) {}

func (b *busy) Running(bucket int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running[bucket] {
		return 1
	}
	return 0
}

func (b *busy) Cancel(buckets partition.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range buckets.All() {
		b.cancelled[n] = true
	}
}

func (b *busy) Queued([]int) {}

// TestGraceEnds shows that reconciles which don't end lose their fence after Grace, and that the
// buckets then move.
func TestGraceEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.start("a", nil)
		same(t, after(joinDelay+time.Second, a), "64")
		w := &busy{running: map[int]bool{}, cancelled: map[int]bool{}}
		remove := a.hub.AddWorker(w)
		b := r.start("b", nil)
		same(t, after(joinDelay+4*time.Second, a, b), "0 56") // eight drain
		same(t, after(2*time.Second, a, b), "8 48")
		w.mu.Lock()
		if len(w.cancelled) != 8 {
			t.Errorf("the reconciles of %d buckets were ended, want 8", len(w.cancelled))
		}
		clear(w.running)
		w.mu.Unlock()
		same(t, after(leaseTime, a, b), "32 32")
		if s := a.Status(); s.Evicted != 0 || s.Released != 32 {
			t.Errorf("%d buckets released and %d lost, want 32 and 0", s.Released, s.Evicted)
		}
		remove()
		_, _ = a.stop(), b.stop()
	})
}

func TestOtherSettingsDoNotJoin(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.start("a", nil)
		same(t, after(joinDelay+time.Second, a), "64")
		b := r.start("b", func(o *Options) { o.Buckets = 128 })
		err := <-b.ended
		if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "ByNamespace, 64 buckets") || !strings.Contains(err.Error(), "ByNamespace, 128 buckets") {
			t.Error(err)
		}
		_ = a.stop()

		// When all others have left, the new settings count.
		b = r.start("b", func(o *Options) { o.Buckets = 128; o.By = ByKey })
		same(t, after(joinDelay+elected, b), "128")
		if e := b.Status().Buckets[0].Epoch; e < 2 {
			t.Errorf("epoch %d, want more than the old table's", e)
		}
		_ = b.stop()
	})
}

// TestTableIsDeleted shows that all members begin again after somebody has deleted the table.
func TestTableIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.start("a", nil), r.start("b", nil)
		same(t, after(joinDelay+time.Second, a, b), "32 32")
		r.leases.Delete("shop", "widgets-table")
		for _, p := range []*process{a, b} {
			if err := <-p.ended; !errors.Is(err, ErrLost) {
				t.Error(err)
			}
		}
		a, b = r.start("a", nil), r.start("b", nil)
		same(t, after(leaseTime+joinDelay+elected, a, b), "32 32")
		_, _ = a.stop(), b.stop()
	})
}

// TestLeaseIsDeleted shows that the owner of a deleted Lease is not followed before its fence has
// shut.
func TestLeaseIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.start("a", nil), r.start("b", nil)
		same(t, after(joinDelay+time.Second, a, b), "32 32")
		a.cut.Store(true)
		r.leases.Delete("shop", leaseName("widgets", a.Status().Identity))
		same(t, after(leaseTime-retry-3*time.Second, b), "32")
		same(t, after(retry+4*time.Second+elected+leaseTime, b), "64")
		if err := <-a.ended; !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		_ = b.stop()
	})
}

// TestServerIsAway shows that members go on for the rest of their leases, then lose them, and that
// health is red in between.
func TestServerIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b := r.start("a", nil), r.start("b", nil)
		same(t, after(joinDelay+time.Second, a, b), "32 32")
		a.cut.Store(true)
		b.cut.Store(true)
		same(t, after(leaseTime-retry-4*time.Second, a, b), "32 32")
		a.cut.Store(false)
		b.cut.Store(false)
		same(t, after(leaseTime, a, b), "32 32")
		a.cut.Store(true)
		b.cut.Store(true)
		for _, p := range []*process{a, b} {
			if err := <-p.ended; !errors.Is(err, ErrLost) {
				t.Error(err)
			}
		}
		same(t, after(0, a, b), "0 0")
	})
}

// TestTableOfLowerGeneration shows that members follow a table that was deleted and made anew by a
// process which had never seen the old one, so that its generations begin again.
func TestTableOfLowerGeneration(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		generation := func(p *process) uint64 {
			m := p.lastRun()
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.view.table.generation
		}
		a := r.start("a", nil)
		same(t, after(joinDelay+time.Second, a), "64")
		neverCoordinates := func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(req *http.Request) (*http.Response, error) {
				if strings.HasSuffix(req.URL.Path, "/leases/widgets") {
					return nil, syscall.ECONNRESET
				}
				return next.RoundTrip(req)
			})
		}
		work := func(ctx context.Context) error { <-ctx.Done(); return nil }
		b := r.startOver("b", neverCoordinates, nil, work)
		same(t, after(leaseTime, a, b), "32 32")
		_ = b.stop()
		// c only joins, so it lives on when a loses its Lease.
		c := r.startOver("c", neverCoordinates, func(o *Options) { o.JoinDelay = 4 * leaseTime }, work)
		same(t, after(time.Second, a, c), "0 64")
		old := generation(c)
		a.cut.Store(true)
		r.leases.Delete("shop", "widgets-table")
		<-a.ended
		d := r.start("d", nil)
		same(t, after(5*leaseTime, c, d), "32 32")
		if now := generation(c); now == 0 || now >= old {
			t.Errorf("generation %d after %d; the test needs a lower one", now, old)
		}
		_, _ = c.stop(), d.stop()
	})
}

func TestHealthy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.start("a", func(o *Options) { o.JoinDelay = time.Hour })
		same(t, after(2*leaseTime-time.Second, a), "0")
		if err := a.Healthy(); err != nil {
			t.Error(err)
		}
		same(t, after(2*time.Second, a), "0")
		if err := a.Healthy(); err == nil || !strings.Contains(err.Error(), "buckets 0-63 for 3") {
			t.Error(err)
		}
		_ = a.stop()
	})
}

// TestWorkEnds shows that a process whose work has ended gives up everything at once, and that it
// may take part again, as another member.
func TestWorkEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		b := r.start("b", nil)
		ring, err := New(r.server.Config(), Options{Namespace: "shop", Name: "widgets", Identity: "a"})
		if err != nil {
			t.Fatal(err)
		}
		fail := errors.New("broken")
		identities := map[string]bool{}
		for range 2 {
			err = ring.Run(t.Context(), func(ctx context.Context) error {
				time.Sleep(joinDelay + time.Second)
				synctest.Wait()
				if n := ring.hub.Held().Len(); n != 32 {
					t.Errorf("%d buckets, want 32", n)
				}
				identities[ring.Status().Identity] = true
				if err := ring.Run(ctx, func(context.Context) error { return nil }); !errors.Is(err, errRunning) {
					t.Error(err)
				}
				return fail
			})
			if !errors.Is(err, fail) || !strings.HasPrefix(err.Error(), "ring shop/widgets: ") {
				t.Error(err)
			}
			same(t, after(elected, b), "64") // the other one may have coordinated
		}
		if len(identities) != 2 {
			t.Errorf("identities %v, want two", identities)
		}
		_ = b.stop()
	})
}

func TestWrongOptions(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	for want, o := range map[string]Options{
		"the Name of the Leases is empty":      {},
		"Buckets is 65":                        {Name: "x", Buckets: 65},
		"Buckets is -64":                       {Name: "x", Buckets: -64},
		"unknown By 7":                         {Name: "x", By: 7},
		"Roots are set, and By is ByNamespace": {Name: "x", Roots: []Root{{Kind: "Widget"}}},
		"root 1 of 1 has no Kind":              {Name: "x", By: ByKey, Roots: []Root{{}}},
		"LeaseDuration is 1.5s":                {Name: "x", LeaseDuration: 1500 * time.Millisecond},
		"negative RetryPeriod":                 {Name: "x", RetryPeriod: -1},
		"negative Grace":                       {Name: "x", Grace: -1},
		"the Margin is 10s":                    {Name: "x", Margin: 10 * time.Second},
		"Spares is 2":                          {Name: "x", Spares: 2},
		"negative Weight":                      {Name: "x", Weight: -1},
	} {
		if _, err := New(config, o); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "shard.New: ") {
			t.Errorf("%+v: %v, want an error with %q", o, err, want)
		}
	}
	if _, err := New(nil, Options{Name: "x"}); err == nil || !strings.Contains(err.Error(), "config is nil") {
		t.Error(err)
	}
	ring, err := New(config, Options{Name: "x", By: ByUID})
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1012 the test is about it
	if err := ring.Run(nil, nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Error(err)
	}
	if ring.Owns(object.Key{Name: "a"}) || ring.Name() != "x" || ring.Healthy() != nil || ring.Status().State != "" {
		t.Error("a ring that does not run")
	}
}
