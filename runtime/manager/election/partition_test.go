// SPDX-License-Identifier: Apache-2.0

package election_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/manager/election"
)

var histories = flag.Uint64("histories", 4, "the number of histories of TestRandomPartitions")

// TestRandomPartitions: the network between each of three processes and the server loses and delays
// requests and answers, their wall clocks jump by seconds or days, and their clocks run at rates
// that differ by a fifth. A process that has lost the lease takes part again. At no request of its
// work may another one hold the Lease, and one of them leads soon after the network is whole again.
func TestRandomPartitions(t *testing.T) {
	work, terms := uint64(0), uint64(0)
	for seed := range *histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				n := &network{
					rig: r, random: rand.New(rand.NewPCG(seed, 0)),
					faults: map[string]fault{}, wrong: map[string]time.Duration{}, elections: map[string]*election.Election{},
				}
				n.join("a", lease-time.Second) // its clock is fast
				n.join("b", lease)
				n.join("c", lease+2*time.Second) // slow; its Margin is still enough
				for range 60 {
					n.change()
					pass(n.upTo(20 * time.Second))
				}
				n.heal()
				pass(lease + 2*time.Second + 2*next)
				n.end()
				for _, text := range n.violations {
					t.Error(text)
				}
				work, terms = work+n.work, terms+n.terms
			})
		})
	}
	if work < 250**histories || terms < 2**histories {
		t.Errorf("%d requests in %d terms, too few to show anything", work, terms)
	}
}

// fault is what the network does to the requests for the Lease of one process.
type fault int

const (
	none        fault = iota
	lost              // the request
	late              // the request, by up to a minute; the answer never comes
	unanswered        // the answer is lost
	slow              // the answer, by up to eight seconds
	unavailable       // 503
	faults
)

// network is between the processes and the server.
type network struct {
	*rig
	ends []func()

	mu     sync.Mutex // mu guards what follows
	random *rand.Rand
	faults map[string]fault         // of each process
	wrong  map[string]time.Duration // by which its wall clock is wrong
	work   uint64                   // requests
	terms  uint64

	elections  map[string]*election.Election
	violations []string
}

// join adds a process that takes part until the end. Its clock takes the given time for what is a
// LeaseDuration by a right one.
func (n *network) join(name string, duration time.Duration) {
	config := n.server.Config()
	config.ContentType = "application/json" // so that carry can change it
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) { return n.carry(name, req, next) })
	})
	e, err := election.New(config, election.Options{
		Namespace: "shop", Name: "widgets", Identity: name,
		LeaseDuration: duration, RenewDeadline: duration * 10 / 15, RetryPeriod: duration * 2 / 15,
	})
	if err != nil {
		n.t.Fatal(err)
	}
	n.elections[name] = e
	client, err := rest.HTTPClientFor(e.Fence(config))
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_ = e.Run(ctx, func(ctx context.Context) error { return n.lead(ctx, client, config.Host) })
		}
	}()
	n.ends = append(n.ends, func() { cancel(); <-ended })
}

// lead works until a random moment, and may go on for a while after the end of the term.
func (n *network) lead(ctx context.Context, client *http.Client, host string) error {
	n.mu.Lock()
	n.terms++
	n.mu.Unlock()
	patience, linger := n.upTo(10*time.Minute), n.upTo(40*time.Second)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		if ctx.Err() != nil && end.After(time.Now().Add(linger)) {
			end = time.Now().Add(linger)
		}
		if resp, err := client.Get(host + "/api/v1/namespaces/shop/configmaps/work"); err == nil {
			_ = resp.Body.Close()
		}
	}
	if n.upTo(2) == 0 {
		return errors.New("something still runs")
	}
	return nil
}

// upTo returns a random time.
func (n *network) upTo(most time.Duration) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.random.Int64N(int64(most)))
}

// change changes what happens to one process.
func (n *network) change() {
	kind, name := fault(n.upTo(time.Duration(faults))), string(rune('a'+n.upTo(3)))
	jump := [...]time.Duration{0, 0, 0, n.upTo(lease) - lease, n.upTo(10*lease) - 5*lease, time.Duration(n.upTo(100)-50) * 24 * time.Hour}[n.upTo(6)]
	n.elections[name].JumpWallClock(jump)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults[name], n.wrong[name] = kind, n.wrong[name]+jump
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.faults)
}

// end ends the processes, one of which leads.
func (n *network) end() {
	if n.holder() == "" {
		n.violations = append(n.violations, "no process leads, although the network is whole")
	}
	for _, end := range n.ends {
		end()
	}
	pass(time.Minute) // late requests
}

// carry is the wire of a process.
func (n *network) carry(name string, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	n.mu.Lock()
	kind, wrong := n.faults[name], n.wrong[name]
	n.mu.Unlock()
	if req.URL.Path == "/api/v1/namespaces/shop/configmaps/work" {
		holder := n.holder()
		n.mu.Lock()
		n.work++
		if holder != name {
			n.violations = append(n.violations, fmt.Sprintf("after %v, %s works while the Lease is of %q", time.Since(n.begin), name, holder))
		}
		n.mu.Unlock()
		return next.RoundTrip(req)
	}
	if req.Body != nil { // its renewal
		var record coordinationv1.Lease
		if err := json.NewDecoder(req.Body).Decode(&record); err != nil {
			return nil, err
		}
		// Not by seconds: below the lock, that could make two records equal.
		record.Spec.RenewTime.Time = record.Spec.RenewTime.Add(wrong.Truncate(24 * time.Hour))
		body, err := json.Marshal(&record)
		if err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.ContentLength = -1
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	switch kind {
	case lost:
		return hang(req, next)
	case late:
		delayed := req.WithContext(context.WithoutCancel(req.Context()))
		time.AfterFunc(n.upTo(time.Minute), func() {
			if resp, err := next.RoundTrip(delayed); err == nil {
				_ = resp.Body.Close()
			}
		})
		return hang(req, next)
	case unanswered:
		if resp, err := next.RoundTrip(req); err == nil {
			_ = resp.Body.Close()
		}
		return hang(req, next)
	case slow:
		resp, err := next.RoundTrip(req)
		time.Sleep(n.upTo(8 * time.Second))
		return resp, err
	case unavailable:
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	return next.RoundTrip(req)
}
