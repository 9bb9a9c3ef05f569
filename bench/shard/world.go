// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// world is a server, and a ring's members.
type world struct {
	server *sourcetest.Server
	spares int
	ended  sync.WaitGroup

	mu      sync.Mutex // mu guards the fields below
	members []*member
	last    map[string]mark // by namespace
	moves   []time.Duration // of namespaces, from a member that lives
	taken   []time.Time     // of namespaces, from one that crashed
}

// mark is a reconcile.
type mark struct {
	member *member
	at     time.Time
}

// member is a controller that does nothing.
type member struct {
	ring     *shard.Ring
	stop     context.CancelFunc
	dead     atomic.Bool  // it has crashed: nothing leaves it
	renewals atomic.Int64 // sent and answered
}

func newWorld(spares int) *world {
	return &world{server: newServer(namespaces, objects, ""), spares: spares, last: map[string]mark{}}
}

func keyIn(namespace string) object.Key { return object.Key{Namespace: namespace, Name: "o-0"} }

func (w *world) live() (live []*member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.members {
		if !m.dead.Load() {
			live = append(live, m)
		}
	}
	return live
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// over is the member's network.
func (m *member) over(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if m.dead.Load() {
			<-req.Context().Done()
			return nil, context.Cause(req.Context())
		}
		resp, err := next.RoundTrip(req)
		if err == nil && req.Method == http.MethodPut && strings.Contains(req.URL.Path, "/leases/bench-m-") {
			m.renewals.Add(1)
		}
		return resp, err
	})
}

// join adds a member. It reads the objects of its buckets only.
func (w *world) join() error {
	m := &member{}
	config := w.server.Config()
	config.Wrap(m.over)
	ring, err := shard.New(config, shard.Options{
		Namespace: "kube-system", Name: "bench", Identity: fmt.Sprintf("m%d", len(w.members)),
		Buckets: buckets, LeaseDuration: lease, RetryPeriod: retry, Spares: w.spares,
	})
	if err != nil {
		return err
	}
	m.ring = ring
	client, err := source.NewClient(&rest.Config{Host: config.Host, Transport: w.server, QPS: -1})
	if err != nil {
		return err
	}
	factory := factories.New(client, informer.WithRing(ring))
	c, err := controller.New("bench", func(_ context.Context, key object.Key) (controller.Result, error) {
		w.note(m, key.Namespace)
		if key.Name == "o-0" {
			return controller.Result{RequeueAfter: 2 * time.Millisecond}, nil
		}
		return controller.Result{}, nil
	}, controller.Options{Ring: ring}, controller.For(factories.For[*corev1.ConfigMap](factory, corev1.SchemeGroupVersion.WithResource("configmaps"))))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	background, end := context.WithCancel(context.Background())
	if err := factory.Start(background); err != nil {
		end()
		cancel()
		return err
	}
	if err := factory.WaitForCacheSync(ctx); err != nil {
		end()
		cancel()
		return err
	}
	w.ended.Go(func() {
		defer end()
		_ = ring.Run(ctx, func(ctx context.Context) error {
			_ = c.Run(ctx) // ends with its context
			return nil
		})
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.members = append(w.members, m)
	return nil
}

// note notes a reconcile. Those of a crashed member are not: it does nothing any more.
func (w *world) note(m *member, namespace string) {
	if m.dead.Load() {
		return
	}
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.last[namespace]
	if last.member != nil && last.member != m {
		if last.member.dead.Load() {
			w.taken = append(w.taken, now)
		} else {
			w.moves = append(w.moves, now.Sub(last.at))
		}
	}
	w.last[namespace] = mark{m, now}
}

// gaps returns the times without a reconcile in a namespace that moved, sorted.
func (w *world) gaps() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(slices.Values(w.moves))
}

// worksIn returns the number of namespaces whose last reconcile was a member's.
func (w *world) worksIn(m *member) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.last {
		if l.member == m {
			n++
		}
	}
	return n
}

// lastTakeover returns the time from a crash to the last takeover.
func (w *world) lastTakeover(crash time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.taken[len(w.taken)-1].Sub(crash)
}

// end ends all members, and waits for them. A crashed member ends after its requests.
func (w *world) end() {
	w.mu.Lock()
	for _, m := range w.members {
		m.stop()
	}
	w.mu.Unlock()
	w.ended.Wait()
}
