// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var (
	histories = flag.Int("histories", 2, "the number of histories of TestHistories")
	firstSeed = flag.Uint64("seed", 0, "the seed of the first history of TestHistories")
)

const (
	lease   = 15 * time.Second
	retry   = 3 * time.Second
	buckets = 16
	// keysPerBucket is the number of namespaces that are in each bucket.
	keysPerBucket = 2
	// linger is the longest time of a reconcile that ignores its context.
	linger = 30 * time.Second
	// calm is how long a ring needs at most to settle after all faults have ended: requests still
	// on their way, a lease, an eviction, and moves of a few buckets at a time.
	calm = delayed + 2*lease + 150*time.Second
)

// TestHistories: 3 to 8 members share the keys of 16 buckets. The network loses, delays and repeats
// requests and answers; members pause, crash, join and leave; so do coordinators. No two members
// work on a bucket at a time (I1), and the server never gets a request of an earlier epoch after
// one of a later (I5). Once the faults have ended, live members own all buckets (I2) by their
// weights, have reconciled each key since (I4), and move none any more.
//
// A seed decides about all faults. Goroutines that run at the same moment have no fixed order, so
// it may take some attempts to see a failure again.
func TestHistories(t *testing.T) {
	var mu sync.Mutex
	var sum counts
	t.Run("of", func(t *testing.T) {
		for n := range *histories {
			seed := *firstSeed + uint64(n)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				h := play(t, seed, "")
				for _, text := range h.violations {
					t.Errorf("%s\nto play it again: go test ./runtime/manager/shard -run '^TestHistories$' -histories 1 -seed %d", text, seed)
				}
				mu.Lock()
				defer mu.Unlock()
				sum.add(h.counts)
			})
		}
	})
	t.Logf("%+v", sum)
	if n := *histories; n >= 10 && (sum.requests < 200*n || sum.grants < 2*buckets*n || sum.refused < n) {
		t.Errorf("this is too little to show anything in %d histories", n)
	}
}

// counts says what happened in a history.
type counts struct{ processes, grants, requests, refused, lost int }

func (c *counts) add(other counts) {
	c.processes += other.processes
	c.grants += other.grants
	c.requests += other.requests
	c.refused += other.refused
	c.lost += other.lost
}

// history is a server, and the processes that have ever been members of the ring.
type history struct {
	t       *testing.T
	seed    uint64
	mutant  mutation
	begin   time.Time
	server  *sourcetest.Server
	leases  *sourcetest.Collection[*coordinationv1.Lease]
	random  *rand.Rand // of the goroutine that plays
	options shard.Options
	keys    [buckets][]string // namespaces
	ended   sync.WaitGroup    // processes

	mu         sync.Mutex // mu guards the fields below
	processes  []*process
	passed     [buckets]mark // the last request that passed a fence
	arrived    [buckets]mark // the last request that the server got
	violations []string
	counts     counts
}

// mark is a request of a reconcile.
type mark struct {
	epoch   uint64
	process *process
	at      time.Duration
}

// play plays one history in a bubble. It can't flake by the machine's speed: time moves only while
// all goroutines wait.
func play(t *testing.T, seed uint64, m mutation) *history {
	h := &history{seed: seed, mutant: m, random: rand.New(rand.NewPCG(seed, 0))}
	synctest.Test(t, func(t *testing.T) {
		h.t, h.begin, h.server = t, time.Now(), sourcetest.New()
		h.leases = sourcetest.Serve[*coordinationv1.Lease](h.server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
		h.options = shard.Options{Namespace: "shop", Name: "ring", Buckets: buckets, LeaseDuration: lease, RetryPeriod: retry, Spares: h.random.IntN(2)}
		p := partition.Partition{Buckets: buckets}
		for n := 0; slices.ContainsFunc(h.keys[:], func(keys []string) bool { return len(keys) < keysPerBucket }); n++ {
			namespace := fmt.Sprintf("ns-%d", n)
			if b := p.BucketOfKey(namespace, ""); len(h.keys[b]) < keysPerBucket {
				h.keys[b] = append(h.keys[b], namespace)
			}
		}
		for range 3 + h.random.IntN(3) {
			h.join()
		}
		for range 20 {
			h.pass(h.upTo(12 * time.Second))
			h.change()
		}
		h.heal()
		h.pass(lease) // a member that could not renew its Lease until now may still lose it
		for end := time.Now().Add(calm); !h.isSettled() && time.Now().Before(end); {
			h.pass(time.Second)
			if len(h.live()) == 0 { // the last ones have lost their Leases by earlier faults
				h.join()
			}
		}
		if *histories >= 10 { // fewer show only the guarantees that hold at any time
			h.checkSettled()
		}
		h.end()
	})
	return h
}

func (h *history) upTo(limit time.Duration) time.Duration {
	return time.Duration(h.random.Int64N(int64(limit)))
}

// pass lets time pass, and probes all fences each second.
func (h *history) pass(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(time.Second, time.Until(end)))
		synctest.Wait()
		for b := range buckets {
			h.probe(b)
		}
	}
}

func (h *history) fail(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failLocked(format, args...)
}

func (h *history) failLocked(format string, args ...any) {
	if h.mutant != "" && !strings.HasPrefix(format, "I1: ") && !strings.HasPrefix(format, "I5: ") {
		return // a mutant is found by the harm that it does
	}
	if len(h.violations) < 5 {
		h.violations = append(h.violations, fmt.Sprintf("after %v: ", time.Since(h.begin))+fmt.Sprintf(format, args...))
	}
}

// live returns the processes that have neither crashed nor ended.
func (h *history) live() (live []*process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.processes {
		if p.isLive() {
			live = append(live, p)
		}
	}
	return live
}

// change lets something happen to one process, or to the server.
func (h *history) change() {
	live := h.live()
	if len(live) == 0 {
		h.join()
		return
	}
	p := live[h.random.IntN(len(live))]
	switch what := h.random.IntN(19); what {
	case 0, 1, 2, 3, 4:
		p.link.setWeather(weathers[h.random.IntN(len(weathers))])
	case 5, 6:
		p.link.runs.shut()
		time.AfterFunc(h.upTo(3*lease), p.link.resume)
	case 7:
		p.crash()
	case 8:
		p.leave()
	case 9, 10, 11:
		if len(live) < 8 {
			h.join()
		}
	case 12:
		if c := h.coordinator(live); c != nil {
			c.crash()
		}
	case 13: // it can't renew the election; the rest goes on
		if c := h.coordinator(live); c != nil {
			c.link.setWeather(weather{noElection: true})
		}
	case 14: // each of its tables may arrive after those of the next one
		if c := h.coordinator(live); c != nil {
			c.link.setWeather(weather{lateTables: true})
		}
	case 15:
		h.server.EndWatches()
	case 16:
		h.server.Compact()
	case 17, 18: // the coordinator, and a third of the others, don't see that members renew
		c := h.coordinator(live)
		for _, p := range live {
			if p == c || h.random.IntN(3) == 0 {
				p.link.watches.shut()
				time.AfterFunc(lease+h.upTo(2*retry), p.link.watches.open)
			}
		}
	}
}

// coordinator returns the process that coordinates, or nil.
func (h *history) coordinator(live []*process) *process {
	l, ok := h.leases.Get(h.options.Namespace, h.options.Name)
	if !ok || l.Spec.HolderIdentity == nil {
		return nil
	}
	for _, p := range live {
		if strings.HasPrefix(*l.Spec.HolderIdentity, p.name+"-") {
			return p
		}
	}
	return nil
}

// heal ends all faults.
func (h *history) heal() {
	for len(h.live()) < 2 {
		h.join()
	}
	for _, p := range h.live() {
		p.link.setWeather(weather{})
		p.link.resume()
		p.link.watches.open()
	}
}

// end ends all processes, one after the other.
func (h *history) end() {
	h.mu.Lock()
	all := slices.Clone(h.processes)
	h.mu.Unlock()
	for _, p := range all {
		p.stop()
		h.pass(h.upTo(3 * time.Second))
	}
	h.ended.Wait()
	time.Sleep(delayed) // requests on their way
}

// note checks a request of a reconcile against the earlier ones at a place: none of them has a
// later epoch, and those of one epoch are of one process.
func (h *history) note(place string, last *[buckets]mark, p *process, c *partition.Claim) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Since(h.begin)
	switch l := last[c.Bucket]; {
	case l.epoch > c.Epoch:
		h.failLocked("I5: a request of %s at epoch %d of bucket %d %s, after one of %s at epoch %d, %v before", p.name, c.Epoch, c.Bucket, place, l.process.name, l.epoch, now-l.at)
	case l.epoch == c.Epoch && l.process != p:
		h.failLocked("I1: %s and %s both work on bucket %d at epoch %d", p.name, l.process.name, c.Bucket, c.Epoch)
	}
	last[c.Bucket] = mark{c.Epoch, p, now}
}

// probe checks that the fence of at most one process passes requests for a bucket now (I1).
func (h *history) probe(bucket int) {
	h.mu.Lock()
	all := slices.Clone(h.processes)
	h.mu.Unlock()
	var open []string
	for _, p := range all {
		if epoch := p.worker.claimed(bucket); epoch > 0 && p.passes(&partition.Claim{Hub: p.ring.Hub(), Bucket: bucket, Epoch: epoch}) {
			open = append(open, fmt.Sprintf("%s at epoch %d", p.name, epoch))
		}
	}
	if len(open) > 1 {
		h.fail("I1: the fences of several processes are open for bucket %d: %s", bucket, strings.Join(open, ", "))
	}
}

// arrive is the server, behind the network. It answers requests of reconciles itself.
func (h *history) arrive(p *process) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		time.Sleep(time.Millisecond) // so that who repeats a request at once doesn't do it for ever
		if isLease(req) {
			h.countWrites(p, req)
			return h.server.RoundTrip(req)
		}
		h.note("has arrived", &h.arrived, p, partition.ClaimOf(req.Context()))
		h.mu.Lock()
		defer h.mu.Unlock()
		h.counts.requests++
		return answer(req, http.StatusOK), nil
	})
}

// mostWrites is more writes of Leases than a process has a reason for in a second, in which
// requests take a millisecond and buckets move one after the other.
const mostWrites = 200

// countWrites looks for processes that write all the time.
func (h *history) countWrites(p *process, req *http.Request) {
	if req.Method == http.MethodGet {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Since(h.begin).Truncate(time.Second); now != p.second {
		p.second, p.writes = now, 0
	}
	if p.writes++; p.writes == mostWrites || p.writes == mostWrites+1 {
		t, _ := h.leases.Get(h.options.Namespace, h.options.Name+"-table")
		h.failLocked("%s has written %d Leases in a second; the last one is %s; the table is\n%s", p.name, p.writes, req.URL.Path, t.GetAnnotations())
	}
}
