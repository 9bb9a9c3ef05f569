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

// TestRandomPartitions: between three processes and the server, the network loses and delays
// requests and responses. The wall clocks jump by seconds or days, and run at rates that differ by
// a fifth. A process that has lost the lease takes part again. During a request of one process no
// other holds the Lease, and one process leads soon after the network is repaired.
func TestRandomPartitions(t *testing.T) {
	work, terms := uint64(0), uint64(0)
	for seed := range *histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				n := &network{
					rig: r, random: rand.New(rand.NewPCG(seed, 0)),
					faults: map[string]fault{}, offsets: map[string]time.Duration{}, elections: map[string]*election.Election{},
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

// fault is a fault of the network, for the Lease requests of one process.
type fault int

const (
	none        fault = iota
	lost              // the request is lost
	late              // the request is delayed by up to a minute, and the response is lost
	unanswered        // the response is lost
	slow              // the response is delayed by up to eight seconds
	unavailable       // 503
	faults
)

// network is between the processes and the server.
type network struct {
	*rig
	ends []func()

	mu      sync.Mutex // mu guards the fields below
	random  *rand.Rand
	faults  map[string]fault         // of each process
	offsets map[string]time.Duration // of its wall clock
	work    uint64                   // requests
	terms   uint64

	elections  map[string]*election.Election
	violations []string
}

// join adds a process that takes part until the end. Its clock measures a LeaseDuration in the
// given time.
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
	term, linger := n.upTo(10*time.Minute), n.upTo(40*time.Second)
	for end := time.Now().Add(term); time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
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
func (n *network) upTo(limit time.Duration) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.random.Int64N(int64(limit)))
}

// change changes the fault and the clock of one process.
func (n *network) change() {
	kind, name := fault(n.upTo(time.Duration(faults))), string(rune('a'+n.upTo(3)))
	jump := [...]time.Duration{0, 0, 0, n.upTo(lease) - lease, n.upTo(10*lease) - 5*lease, time.Duration(n.upTo(100)-50) * 24 * time.Hour}[n.upTo(6)]
	n.elections[name].JumpWallClock(jump)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults[name], n.offsets[name] = kind, n.offsets[name]+jump
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.faults)
}

// end ends the processes, one of which leads.
func (n *network) end() {
	if n.holder() == "" {
		n.violations = append(n.violations, "no process leads after the network was repaired")
	}
	for _, end := range n.ends {
		end()
	}
	pass(time.Minute) // late requests
}

// carry sends a request of a process.
func (n *network) carry(name string, req *http.Request, next http.RoundTripper) (*http.Response, error) {
	n.mu.Lock()
	kind, offset := n.faults[name], n.offsets[name]
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
		record.Spec.RenewTime.Time = record.Spec.RenewTime.Add(offset.Truncate(24 * time.Hour))
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
