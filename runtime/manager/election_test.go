// SPDX-License-Identifier: Apache-2.0

package manager_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

const (
	lease = 15 * time.Second
	next  = 4400 * time.Millisecond // the longest time between two looks at the lease by others
)

// process is a manager in an election. Its controller maps is led, and notes its reconciles; the
// other one always runs.
type process struct {
	*running
	disconnected atomic.Bool // its renewals hang
	client       *source.Client
	release      chan struct{} // unless nil, reconciles wait for it
}

func (r *rig) process(name string, change ...func(*process, *manager.Options)) *process {
	r.t.Helper()
	p := &process{}
	config := rest.CopyConfig(r.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if p.disconnected.Load() && strings.Contains(req.URL.Path, "/leases") {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			return next.RoundTrip(req)
		})
	})
	e, err := election.New(config, election.Options{Namespace: "shop", Name: "maps", Identity: name})
	if err != nil {
		r.t.Fatal(err)
	}
	factory := r.newFactory()
	p.running = r.run(func(o *manager.Options) {
		o.Factory, o.Election = factory, e
		o.Controllers = []manager.Descriptor{
			{Name: "maps", New: func(_ context.Context, c *manager.Context) (manager.Runnable, error) {
				p.client = c.Client
				return controller.New("maps", func(_ context.Context, key object.Key) (controller.Result, error) {
					r.note("%s: %s", name, key)
					if p.release != nil {
						<-p.release
					}
					return controller.Result{}, nil
				}, controller.Options{}, controller.For(factories.For[*configMap](factory, mapsResource)))
			}},
			r.recording("always-on-"+name, always),
		}
		for _, f := range change {
			f(p, o)
		}
	})
	return p
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// write sends a request of the led controller.
func (p *process) write(ctx context.Context) error {
	maps, err := source.New[*configMap](p.client, mapsResource, source.Options{})
	if err == nil {
		_, err = maps.List(ctx, source.ListOptions{}, func(*configMap) error { return nil })
	}
	return err
}

// TestStandbyIsWarm: a process that does not lead has read all objects, is ready, and reconciles
// none. After the end of the leader it leads within 2.2 retries, and does not list again.
func TestStandbyIsWarm(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		a := r.process("a")
		b := r.process("b")
		same(t, "events", sorted(r.take()), []string{"a: shop/blue", "make always-on-a", "make always-on-b", "run always-on-a", "run always-on-b"})
		same(t, "states of a", states(t, a.Manager), "always-on-a:running maps:running")
		same(t, "states of b", states(t, b.Manager), "always-on-b:running maps:waiting")
		checkGet(t, b.Manager, "/readyz", 200)
		checkGet(t, b.Manager, "/healthz", 200)
		if err := a.write(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.write(t.Context()); !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("a request of the standby returns %v, want ErrNotLeading", err)
		}
		checkGet(t, a.Manager, "/debug/informers?format=html", 200, "This process leads, as a.", `<a href="controllers/maps">maps</a>`)
		checkGet(t, b.Manager, "/debug/informers?format=html", 200, "This process does not lead. The leader is a.")
		checkGet(t, b.Manager, "/debug/informers", 200, "\"leadership\": {\n    \"leading\": false,\n    \"holder\": \"a\"\n  }")
		requests := len(r.server.Requests())
		same(t, "Run of a", a.End(), errStop)
		same(t, "events", r.take(), []string{"end always-on-a"})
		pass(next)
		same(t, "events", r.take(), []string{"b: shop/blue"})
		for _, req := range r.server.Requests()[requests:] {
			if req.Resource == mapsResource {
				t.Errorf("b has listed or watched again: %v", req)
			}
		}
	})
}

// TestStopOnTheStandby: a controller stopped there does not start when the process leads.
func TestStopOnTheStandby(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		a, b := r.process("a"), r.process("b")
		same(t, "Stop", b.Stop(t.Context(), "maps"), nil)
		_ = a.End()
		r.take()
		pass(time.Minute)
		same(t, "events", r.take(), []string{})
		same(t, "Start", b.Start("maps"), nil)
		same(t, "events", r.take(), []string{"b: shop/blue"})
	})
}

// TestLostLeaseEndsRun: first the led controllers, then the others.
func TestLostLeaseEndsRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a := r.process("a")
		pass(time.Minute)
		a.disconnected.Store(true)
		<-a.Done
		if !errors.Is(a.Err, election.ErrLost) {
			t.Errorf("Run() = %v", a.Err)
		}
		if err := a.write(t.Context()); !errors.Is(err, election.ErrNotLeading) {
			t.Errorf("a request after the loss returns %v, want ErrNotLeading", err)
		}
		same(t, "the end", r.take()[2:], []string{"end always-on-a"})
	})
}

// TestLeaseIsKeptWhileReconcilesRun: if a reconcile hangs at the end, no other process leads before
// the lease has expired (C-22).
func TestLeaseIsKeptWhileReconcilesRun(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.create("blue")
		a := r.process("a", func(p *process, o *manager.Options) {
			p.release = make(chan struct{})
			o.ShutdownTimeout = 10 * time.Second
		})
		b := r.process("b")
		start := time.Now()
		wantError(t, a.End(), "manager: Run: election shop/maps: controller maps has not returned; it is working on shop/blue for 10s: ShutdownTimeout of 10s has passed")
		same(t, "the end takes", time.Since(start), 10*time.Second)
		r.take()
		pass(lease - 2*time.Second)
		same(t, "b before the lease has expired", r.take(), []string{})
		pass(2*time.Second + 2*next)
		same(t, "b after that", r.take(), []string{"b: shop/blue"})
		close(a.release)
		synctest.Wait()
		_ = b.End()
	})
}
