// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
)

const workURL = "http://sourcetest.invalid/api/v1/namespaces/shop/configmaps/work"

// process is a member with an informer and a controller that do nothing but take part.
type process struct {
	history *history
	name    string
	weight  int
	ring    *shard.Ring
	link    *link
	fenced  http.RoundTripper
	worker  *worker
	stop    context.CancelFunc
	random  *rand.Rand // worker.mu guards it

	second time.Duration // history.mu guards it and writes
	writes int           // of Leases, in this second

	mu    sync.Mutex // mu guards the fields below
	gone  bool       // it has crashed, was told to leave, or has ended
	lucky bool       // Run returned no error
}

// join starts a process.
func (h *history) join() *process {
	h.mu.Lock()
	number := len(h.processes)
	h.mu.Unlock()
	p := &process{history: h, name: fmt.Sprintf("p%d", number), weight: 1}
	if h.random.IntN(5) == 0 {
		p.weight = 3
	}
	source := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(h.seed, uint64(2*number)+n)) }
	p.random = source(1)
	config := h.server.Config()
	if h.mutant != "" {
		config.ContentType = "application/json" // mutations read it
	}
	config.Transport = h.arrive(p)
	p.link = &link{process: p, random: source(2)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return p.link.over(next) })
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return h.mutant.change(p, next) })
	options := h.options
	options.Identity, options.Weight = p.name, p.weight
	var err error
	if p.ring, err = shard.New(config, options); err != nil {
		h.t.Fatal(err)
	}
	work := rest.CopyConfig(config)
	work.Wrap(p.observe)
	if h.mutant != noFence {
		work = p.ring.Fence(work)
	}
	if p.fenced, err = rest.TransportFor(work); err != nil {
		h.t.Fatal(err)
	}
	p.worker = &worker{process: p, running: map[*reconcile]struct{}{}, wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(klog.NewContext(h.t.Context(), logr.Discard()))
	p.stop = cancel
	h.mu.Lock()
	h.processes = append(h.processes, p)
	h.counts.processes++
	h.mu.Unlock()
	h.ended.Go(func() {
		err := p.ring.Run(ctx, p.work)
		p.mu.Lock()
		p.gone, p.lucky = true, err == nil || err == context.Cause(ctx)
		p.mu.Unlock()
		if !errors.Is(err, context.Canceled) {
			h.mu.Lock()
			h.counts.lost++
			h.mu.Unlock()
		}
	})
	return p
}

// over makes link a transport over next. Each client of the process has its own.
func (l *link) over(next http.RoundTripper) http.RoundTripper {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = next // the same one each time
	return l
}

func (p *process) isLive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.gone
}

func (p *process) setGone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

func (p *process) crash() {
	p.setGone()
	p.link.kill()
}

func (p *process) leave() {
	p.setGone()
	p.stop()
}

// work runs an informer and three workers until ctx is done, and returns when all have ended.
func (p *process) work(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { p.inform(ctx) })
	remove := p.ring.Hub().AddWorker(p.worker)
	for range 3 {
		all.Go(func() { p.worker.loop(ctx) })
	}
	all.Wait()
	remove()
	return nil
}

// inform loads buckets that are wanted, after some time.
func (p *process) inform(ctx context.Context) {
	hub := p.ring.Hub()
	i := hub.Join("things", func() string { return "client" })
	defer i.Leave()
	for loaded := (partition.Set{}); ctx.Err() == nil; {
		changed := hub.Changed()
		wanted := hub.Wanted()
		if wanted == loaded {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		if !loaded.Contains(wanted) {
			p.worker.sleep(ctx, 2*time.Second)
		}
		loaded = wanted
		p.worker.setLoaded(loaded)
		i.SetLoaded(loaded)
	}
}

// worker is the queue of a controller, with its reconciles.
type worker struct {
	process *process
	wake    chan struct{}

	mu      sync.Mutex // mu guards the fields below
	loaded  partition.Set
	queue   []string // namespaces
	running map[*reconcile]struct{}
	claims  [buckets]uint64   // the highest epoch at which a reconcile ran
	granted [buckets]uint64   // the epoch of the last grant
	done    map[string]uint64 // the epoch of the last complete reconcile of a key
}

// reconcile is a reconcile that runs.
type reconcile struct {
	key    string
	claim  *partition.Claim
	cancel context.CancelFunc
}

func (w *worker) setLoaded(loaded partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loaded = loaded
}

// claimed returns the highest epoch at which the process may have worked on a bucket.
func (w *worker) claimed(bucket int) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.claims[bucket], w.granted[bucket])
}

// Grant implements partition.Worker.
func (w *worker) Grant(set partition.Set) {
	h := w.process.history
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := range set.All() {
		if !w.loaded.Has(b) {
			h.fail("I4: %s was granted bucket %d, which its informer doesn't have", w.process.name, b)
		}
		w.granted[b] = w.process.ring.Hub().Epoch(b)
		w.queue = append(w.queue, h.keys[b]...)
		h.mu.Lock()
		h.counts.grants++
		h.mu.Unlock()
		h.ended.Go(func() { h.probe(b) }) // by another goroutine, since the ring may hold a lock
	}
	w.wakeLocked()
}

func (w *worker) wakeLocked() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Revoke implements partition.Worker.
func (w *worker) Revoke(set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = slices.DeleteFunc(w.queue, func(key string) bool { return set.Has(w.bucketOf(key)) })
}

func (w *worker) bucketOf(key string) int { return w.process.ring.Hub().BucketOfKey(key, "") }

// Running implements partition.Worker.
func (w *worker) Running(bucket int) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.running {
		if r.claim.Bucket == bucket {
			n++
		}
	}
	return n
}

// Cancel implements partition.Worker.
func (w *worker) Cancel(set partition.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for r := range w.running {
		if set.Has(r.claim.Bucket) {
			r.cancel()
		}
	}
}

// Queued implements partition.Worker.
func (w *worker) Queued(counts []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range w.queue {
		counts[w.bucketOf(key)]++
	}
}

// loop reconciles keys that wait, and some held one after a while without.
func (w *worker) loop(ctx context.Context) {
	for ctx.Err() == nil {
		if r := w.take(); r != nil {
			w.reconcile(ctx, r)
			continue
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
			w.mu.Lock()
			w.queue = append(w.queue, w.process.history.keys[w.process.random.IntN(buckets)][0])
			w.mu.Unlock()
		}
	}
}

// take returns the next reconcile, or nil. A key is reconciled once at a time.
func (w *worker) take() *reconcile {
	hub := w.process.ring.Hub()
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, key := range w.queue {
		busy := false
		for r := range w.running {
			busy = busy || r.key == key
		}
		if busy {
			continue
		}
		w.queue = slices.Delete(w.queue, n, n+1)
		b := w.bucketOf(key)
		epoch := hub.Epoch(b)
		if epoch == 0 {
			return nil
		}
		r := &reconcile{key: key, claim: &partition.Claim{Hub: hub, Bucket: b, Epoch: epoch}}
		w.running[r] = struct{}{}
		w.claims[b] = max(w.claims[b], epoch)
		if len(w.queue) > 0 {
			w.wakeLocked()
		}
		return r
	}
	return nil
}

// reconcile sends some requests. One in four ignores the end of its context for a while.
func (w *worker) reconcile(ctx context.Context, r *reconcile) {
	p := w.process
	ctx, r.cancel = context.WithCancel(context.WithValue(ctx, partition.ClaimKey{}, r.claim))
	w.mu.Lock()
	requests, pause := 1+p.random.IntN(3), time.Second
	if p.random.IntN(10) == 0 {
		pause = linger / 3
	}
	if p.random.IntN(4) == 0 {
		ctx = context.WithoutCancel(ctx)
	}
	w.mu.Unlock()
	err := error(nil)
	for n := 0; n < requests && err == nil; n++ {
		err = p.send(ctx)
		w.sleep(ctx, pause)
	}
	r.cancel()
	w.mu.Lock()
	delete(w.running, r)
	if err == nil {
		if w.done == nil {
			w.done = map[string]uint64{}
		}
		w.done[r.key] = max(w.done[r.key], r.claim.Epoch)
	} else {
		w.queue = append(w.queue, r.key)
	}
	w.mu.Unlock()
	if r.claim.Hub.Epoch(r.claim.Bucket) != r.claim.Epoch {
		r.claim.Hub.Done()
	}
}

func (p *process) send(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, workURL, nil)
	if err != nil {
		return err
	}
	resp, err := p.fenced.RoundTrip(req)
	if errors.Is(err, shard.ErrNotOwned) {
		p.history.mu.Lock()
		p.history.counts.refused++
		p.history.mu.Unlock()
	}
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

// sleep waits for up to a time.
func (w *worker) sleep(ctx context.Context, limit time.Duration) {
	w.mu.Lock()
	d := time.Duration(w.process.random.Int64N(int64(limit)))
	w.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
