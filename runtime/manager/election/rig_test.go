// SPDX-License-Identifier: Apache-2.0

package election_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/manager/election"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // of client-go's elector
	goleak.VerifyTestMain(m)
}

const (
	lease  = 15 * time.Second
	retry  = 2 * time.Second
	margin = 3 * time.Second
	next   = retry * 22 / 10 // the longest time between two looks of a candidate
)

var (
	inBubble = informertest.WithRig(newRig)
	same     = informertest.SameText
	pass     = informertest.Pass
	errStop  = informertest.ErrStop
)

// rig is a server in memory with Leases and ConfigMaps.
type rig struct {
	t      *testing.T
	server *sourcetest.Server
	leases *sourcetest.Collection[*coordinationv1.Lease]
	begin  time.Time
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, server: sourcetest.New(), begin: time.Now()}
	r.leases = sourcetest.Serve[*coordinationv1.Lease](r.server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	sourcetest.Serve[*corev1.ConfigMap](r.server, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap")
	return r
}

// lease returns a copy of the lease; nil before the first candidate runs.
func (r *rig) lease() *coordinationv1.Lease {
	l, _ := r.leases.Get("shop", "widgets")
	return l.DeepCopy()
}

func (r *rig) holder() string {
	l := r.lease()
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// candidate is a process in the election. Its lead sends ten requests a second.
type candidate struct {
	*election.Election
	*informertest.Running // nil before it runs
	config                *rest.Config

	mu      sync.Mutex // mu guards the fields below
	carry   func(*http.Request, http.RoundTripper) (*http.Response, error)
	renewed time.Time   // when the last successful renewal was sent
	sent    []time.Time // requests of lead
	refused int
	led     time.Time     // when lead was called
	linger  time.Duration // how long lead runs after the end of its context
	result  error         // of lead
}

// RoundTrip sends the candidate's requests by carry, and records them.
func (c *candidate) RoundTrip(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		c.mu.Lock()
		carry, sent := c.carry, time.Now()
		c.mu.Unlock()
		do := next.RoundTrip
		if carry != nil {
			do = func(req *http.Request) (*http.Response, error) { return carry(req, next) }
		}
		resp, err := do(req)
		c.mu.Lock()
		defer c.mu.Unlock()
		switch lease := strings.Contains(req.URL.Path, "/leases"); {
		case !lease:
			c.sent = append(c.sent, sent)
		case err == nil && resp.StatusCode < 300 && req.Method != http.MethodGet:
			c.renewed = sent
		}
		return resp, err
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// candidate returns a candidate that does not run.
func (r *rig) candidate(name string) *candidate {
	r.t.Helper()
	c := &candidate{config: r.server.Config()}
	c.config.Wrap(c.RoundTrip)
	var err error
	if c.Election, err = election.New(c.config, election.Options{Namespace: "shop", Name: "widgets", Identity: name}); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// run starts candidates, and returns when each leads or waits.
func (r *rig) run(names ...string) (all []*candidate) {
	r.t.Helper()
	for _, name := range names {
		c := r.candidate(name)
		r.start(c)
		all = append(all, c)
	}
	return all
}

func (r *rig) start(c *candidate) {
	c.Running = informertest.Go(r.t, func(ctx context.Context) error { return c.Run(ctx, c.lead) })
	synctest.Wait()
}

// lead sends requests until its context is done, and then for linger.
func (c *candidate) lead(ctx context.Context) error {
	c.mu.Lock()
	c.led = time.Now()
	c.mu.Unlock()
	client, err := rest.HTTPClientFor(c.Fence(c.config))
	if err != nil {
		return err
	}
	var end <-chan time.Time
	for done := ctx.Done(); ; {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-done:
			c.mu.Lock()
			done, end = nil, time.After(c.linger)
			c.mu.Unlock()
			continue
		case <-end:
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.result
		}
		req, err := http.NewRequest(http.MethodPost, c.config.Host+"/api/v1/namespaces/shop/configmaps", strings.NewReader(`{"metadata":{"generateName":"x-"}}`))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		} else if errors.Is(err, election.ErrNotLeading) {
			c.mu.Lock()
			c.refused++
			c.mu.Unlock()
		}
	}
}

// on makes lease answer requests for leases.
func (c *candidate) on(lease func(*http.Request, http.RoundTripper) (*http.Response, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.carry = func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.Contains(req.URL.Path, "/leases") {
			return lease(req, next)
		}
		return next.RoundTrip(req)
	}
}

// hang waits for the end of a request's context.
func hang(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// last returns the times of the last request of lead and of the last renewal.
func (c *candidate) last() (sent, renewed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sent) > 0 {
		sent = c.sent[len(c.sent)-1]
	}
	return sent, c.renewed
}

// since returns the time lead was called, or zero.
func (c *candidate) since() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.led
}

// within checks that a duration is in a range.
func within(t *testing.T, name string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %v, want %v to %v", name, got, low, high)
	}
}
