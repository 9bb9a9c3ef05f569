// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var (
	_ manager.Ring = (*shard.Ring)(nil)
	_ manager.Ring = (*fakeRing)(nil)
)

// fakeRing takes part at once, and notes what happens.
type fakeRing struct {
	*rig
	handOver chan struct{} // hand-overs wait until it is closed
	lose     chan error    // the ring is lost by this error

	mu     sync.Mutex // mu guards the fields below
	status partition.Status
}

func (r *rig) ring() *fakeRing {
	f := &fakeRing{rig: r, handOver: make(chan struct{}), lose: make(chan error, 1)}
	f.status = partition.Status{
		Identity: "pod-1", LeaseDuration: 15 * time.Second, Coordinator: "pod-1", Granted: 3, Released: 1, Unclaimed: 9,
		Buckets: []partition.BucketStatus{{Owner: "pod-1", State: "held"}, {Owner: "pod-1", State: "draining"}, {Owner: "pod-2", State: "away"}, {State: "loading"}},
		Members: []partition.MemberStatus{{Identity: "pod-1", State: "joining"}, {Identity: "pod-2", State: "active"}, {Identity: "pod-3", State: "expired"}},
	}
	return f
}

func (f *fakeRing) Run(ctx context.Context, work func(context.Context) error) error {
	f.note("join")
	f.set(func(s *partition.Status) { s.State = "joining" })
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	result := make(chan error, 1)
	go func() { result <- work(working) }()
	select {
	case err := <-f.lose:
		end()
		return errors.Join(err, <-result)
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	f.note("hand over")
	f.set(func(s *partition.Status) { s.State = "leaving" })
	select {
	case <-f.handOver:
	case err := <-result:
		f.note("work has ended early")
		return err
	}
	end()
	if err := <-result; err != nil {
		return err
	}
	f.note("leave")
	return context.Cause(ctx)
}

var errNotOwned = errors.New("not owned")

func (f *fakeRing) Fence(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(*http.Request) (*http.Response, error) { return nil, errNotOwned })
	})
	return config
}

func (*fakeRing) Name() string { return "databases" }

func (f *fakeRing) Status() partition.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fakeRing) Healthy() error {
	s := f.Status()
	return s.Healthy()
}

func (f *fakeRing) set(change func(*partition.Status)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.status)
}

func sharded(d *manager.Descriptor) { d.Sharded = true }

// TestShardedControllers run while the process is in the ring. At the end it hands over while they
// run on; only then do they end, and those that always run.
func TestShardedControllers(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := r.ring()
		r.informer()
		m := r.run(func(o *manager.Options) {
			o.Ring = ring
			o.Controllers = []manager.Descriptor{r.recording("databases", sharded), r.recording("other")}
		})
		same(t, "the start", sorted(r.take()), []string{"join", "make databases", "make other", "run databases", "run other"})
		same(t, "states", states(t, m.Manager), "databases:running other:running")
		end := make(chan error, 1)
		go func() { end <- m.End() }()
		pass(20 * time.Second)
		same(t, "while it hands over", r.take(), []string{"hand over"})
		same(t, "states", states(t, m.Manager), "databases:running other:running")
		same(t, "the informers run", r.factory.Informers()[0].Status().Running, true)
		close(ring.handOver)
		same(t, "Run", <-end, errStop)
		same(t, "the end", r.take(), []string{"end databases", "leave", "end other"})
		same(t, "the informers run", r.factory.Informers()[0].Status().Running, false)
	})
}

// TestHandOverIsBounded: if the ring can't hand over, its controllers end at the deadline, and the
// ring gets an error, so that it doesn't give its part away before its lease has expired.
func TestHandOverIsBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		m := r.run(func(o *manager.Options) {
			o.Ring, o.ShutdownTimeout = r.ring(), 10*time.Second
			o.Controllers = []manager.Descriptor{r.recording("databases", sharded)}
		})
		r.take()
		start := time.Now()
		wantError(t, m.End(), "manager: Run: its part of the ring was not handed over: ShutdownTimeout of 10s has passed")
		same(t, "the end takes", time.Since(start), 10*time.Second)
		same(t, "the end", sorted(r.take()), []string{"end databases", "hand over", "work has ended early"})
	})
}

// TestHangingShardedController: Run names it, and returns.
func TestHangingShardedController(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		release, ring := make(chan struct{}), r.ring()
		close(ring.handOver)
		m := r.run(func(o *manager.Options) {
			o.Ring, o.ShutdownTimeout = ring, 10*time.Second
			deaf := controllerOf("deaf", func(context.Context) error { <-release; return nil })
			deaf.Sharded = true
			o.Controllers = []manager.Descriptor{deaf}
		})
		start := time.Now()
		wantError(t, m.End(), "manager: Run: controller deaf has not returned: ShutdownTimeout of 10s has passed")
		same(t, "the end takes", time.Since(start), 10*time.Second)
		close(release)
	})
}

// TestLostRingEndsRun: and the election, whose lease another process gets at once.
func TestLostRingEndsRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := r.ring()
		a := r.process("a", func(_ *process, o *manager.Options) {
			o.Ring = ring
			o.Controllers = append(o.Controllers, r.recording("databases", sharded))
		})
		b := r.process("b")
		r.create("blue")
		pass(time.Minute)
		r.take()
		errLost := errors.New("the lease was lost")
		ring.lose <- errLost
		<-a.Done
		wantError(t, a.Err, "manager: Run: the lease was lost")
		same(t, "the cause", errors.Is(a.Err, errLost), true)
		pass(next)
		same(t, "the end", r.take(), []string{"end databases", "end always-on-a", "b: shop/blue"})
		_ = b.End()
	})
}

// TestLostLeadershipEndsTheRing: the process hands over before it ends.
func TestLostLeadershipEndsTheRing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := r.ring()
		close(ring.handOver)
		a := r.process("a", func(_ *process, o *manager.Options) {
			o.Ring = ring
			o.Controllers = append(o.Controllers, r.recording("databases", sharded))
		})
		pass(time.Minute)
		r.take()
		a.disconnected.Store(true)
		<-a.Done
		same(t, "the error is ErrLost", errors.Is(a.Err, election.ErrLost), true)
		same(t, "the end", r.take(), []string{"hand over", "end databases", "leave", "end always-on-a"})
	})
}

// TestShardedControllersRunWithoutLeading: each group has its own fence.
func TestShardedControllersRunWithoutLeading(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := r.ring()
		close(ring.handOver)
		a := r.process("a")
		var client *source.Client
		b := r.process("b", func(_ *process, o *manager.Options) {
			d := r.recording("databases", sharded)
			original := d.New
			d.New = func(ctx context.Context, c *manager.Context) (manager.Runnable, error) {
				client = c.Client
				return original(ctx, c)
			}
			o.Ring, o.Controllers = ring, append(o.Controllers, d)
		})
		pass(time.Minute)
		same(t, "states of b", states(t, b.Manager), "always-on-b:running databases:running maps:waiting")
		if err := b.write(t.Context()); !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("a request of the led controller: %v", err)
		}
		if err := (&process{client: client}).write(t.Context()); !errors.Is(err, errNotOwned) {
			t.Errorf("a request of the sharded controller: %v", err)
		}
		_ = a.End()
	})
}

// TestRingHealth: a member is ready when it has joined, and all are unhealthy when nobody works
// on a part for twice the LeaseDuration.
func TestRingHealth(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := r.ring()
		close(ring.handOver)
		m := r.new(func(o *manager.Options) {
			o.Ring, o.Controllers = ring, []manager.Descriptor{r.recording("databases", sharded)}
		})
		checkGet(t, m, "/healthz", 200)
		checkGet(t, m, "/readyz/ring", 503, "[-]ring: not ready: this process has not joined the ring")
		run := r.start(m)
		checkGet(t, m, "/readyz?verbose", 200, "[+]informers ok\n[+]controllers ok\n[+]ring ok\nok\n")
		ring.set(func(s *partition.Status) { s.Buckets[3].LastOwner, s.Buckets[3].UnownedFor = "pod-0", 30*time.Second })
		checkGet(t, m, "/healthz?verbose", 200, "[+]databases ok\n[+]ring ok\nok\n")
		ring.set(func(s *partition.Status) { s.Buckets[3].UnownedFor = 31 * time.Second })
		checkGet(t, m, "/healthz", 500, "[-]ring: nobody has worked on 1 of 4 buckets for longer than 30s: bucket 3 for 31s, last owned by pod-0")
		same(t, "from elsewhere", getRemotely(m, "/healthz/ring").Body.String(), "[-]ring\nhealthz check failed\n")
		checkGet(t, m, "/readyz", 200) // another process could not do more
		checkGet(t, m, "/debug/informers?format=html", 200, "Ring databases", "pod-0")
		same(t, "Run", run.End(), errStop)
		checkGet(t, m, "/readyz/ring", 503, "this process is leaving the ring")
	})
}

func TestRingMetrics(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		registry, ring := r.withMetrics(), r.ring()
		close(ring.handOver)
		m := r.run(func(o *manager.Options) {
			o.Ring, o.Controllers = ring, []manager.Descriptor{r.recording("databases", sharded)}
		})
		ring.set(func(s *partition.Status) {
			s.State, s.Granted, s.Released, s.Evicted, s.Unclaimed = "active", 10, 3, 1, 12
			s.Buckets[3].UnownedFor = 2 * time.Second
		})
		got := exposed(t, registry)
		for name, want := range map[string]float64{
			"shard_active": 1, "shard_coordinator": 1, "shard_members": 2, "shard_buckets_owned": 2, "shard_unowned_seconds": 2, "shard_unclaimed_requests_total": 3,
		} {
			checkSample(t, got, name, map[string]string{"ring": "databases"}, func(value float64) bool { return value == want })
		}
		for direction, want := range map[string]float64{"granted": 7, "released": 2, "evicted": 1} {
			checkSample(t, got, "shard_bucket_moves_total", map[string]string{"ring": "databases", "direction": direction}, func(value float64) bool { return value == want })
		}
		same(t, "Run", m.End(), errStop)
		same(t, "series after the end", len(exposed(t, registry)["shard_active"]), 0)
	})
}

func TestWrongRings(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		check := func(want string, ring manager.Ring, controllers ...manager.Descriptor) {
			t.Helper()
			_, err := manager.New(manager.Options{
				Config: r.config, Factory: r.factory, Ring: ring, Controllers: controllers,
				HealthChecks: map[string]func(*http.Request) error{"ring": func(*http.Request) error { return nil }},
			})
			wantError(t, err, "manager.New: "+want)
		}
		var none *shard.Ring
		const twice = `HealthChecks: check "ring": the manager has a check of this name; choose another one`
		check("controller a: it is Sharded and Always; choose one\n"+
			"controller b: it is Sharded, and Options.Ring is nil; make a ring with package shard", nil, r.recording("a", sharded, always), r.recording("b", sharded))
		check("Options.Ring is set, and no controller is Sharded; leave the Ring out, or make a controller Sharded\n"+twice, r.ring(), r.recording("a"))
		check(`controller ring: the manager has a check of the name "ring"; choose another one`+"\n"+twice+"\n"+
			`HealthChecks: check "ring": a controller has this name; choose another one`, r.ring(), r.recording("ring", sharded))
		check("the Ring is a nil *shard.Ring; leave it out, or make one\n"+twice, none, r.recording("a", sharded))
	})
}
