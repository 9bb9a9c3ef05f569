// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

const (
	leaseTime = 15 * time.Second
	retry     = 2 * time.Second
	joinDelay = 5 * time.Second
	elected   = retry * 22 / 10 // the longest time until another process coordinates
)

// rig is a server in memory with Leases.
type rig struct {
	t      *testing.T
	server *sourcetest.Server
	leases *sourcetest.Collection[*coordinationv1.Lease]
}

func inBubble(t *testing.T, test func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		test(t, &rig{t, server, sourcetest.Serve[*coordinationv1.Lease](server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")})
	})
}

// process is a member that can crash.
type process struct {
	*Ring
	t      *testing.T
	cut    atomic.Bool // no request leaves
	cancel context.CancelFunc
	ended  chan error
}

func (r *rig) start(name string, change func(*Options)) *process {
	r.t.Helper()
	return r.startOver(name, nil, change, func(ctx context.Context) error { <-ctx.Done(); return nil })
}

// startOver starts a process whose requests pass between, if that is not nil.
func (r *rig) startOver(name string, between func(http.RoundTripper) http.RoundTripper, change func(*Options), work func(context.Context) error) *process {
	r.t.Helper()
	p := &process{t: r.t, ended: make(chan error, 1)}
	config := r.server.Config()
	if between != nil {
		config.Wrap(between)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			if p.cut.Load() {
				<-req.Context().Done()
				return nil, context.Cause(req.Context())
			}
			return next.RoundTrip(req)
		})
	})
	options := Options{Namespace: "shop", Name: "widgets", Identity: name}
	if change != nil {
		change(&options)
	}
	var err error
	if p.Ring, err = New(config, options); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	p.cancel = cancel
	go func() {
		p.ended <- p.Run(ctx, work)
	}()
	return p
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// stop lets the process leave, and returns its error.
func (p *process) stop() error {
	p.cancel()
	return <-p.ended
}

func (p *process) held() int { return p.hub.Held().Len() }

// after lets time pass, and returns how many buckets the processes hold, the fewest first.
func after(d time.Duration, processes ...*process) string {
	time.Sleep(d)
	synctest.Wait()
	var all []int
	for _, p := range processes {
		all = append(all, p.held())
	}
	slices.Sort(all)
	return strings.Trim(fmt.Sprint(all), "[]")
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMembersComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		a, b, c := r.start("a", nil), r.start("b", nil), r.start("c", nil)
		same(t, after(time.Second, a, b, c), "0 0 0")
		same(t, after(joinDelay, a, b, c), "21 21 22")

		// A fourth takes from all.
		d := r.start("d", nil)
		same(t, after(joinDelay-time.Second, a, b, c, d), "0 21 21 22")
		same(t, after(2*time.Second, a, b, c, d), "16 16 16 16")

		// One that leaves hands over.
		if err := b.stop(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		same(t, after(time.Second, a, b, c, d), "0 21 21 22")

		// One that crashes is replaced after its lease.
		a.cut.Store(true)
		time.Sleep(leaseTime - retry - 4*time.Second)
		if n := a.held(); n == 0 {
			t.Error("a has given up while its lease lasts")
		}
		same(t, after(retry+6*time.Second+elected, a, c, d), "0 32 32")
		if err := <-a.ended; !errors.Is(err, ErrLost) {
			t.Error(err)
		}
		for _, p := range []*process{c, d} {
			if err := p.stop(); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}
