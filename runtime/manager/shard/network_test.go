// SPDX-License-Identifier: Apache-2.0

package shard_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// delayed is the longest time between the sending of a request for a Lease and its arrival.
const delayed = time.Minute

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func isLease(req *http.Request) bool { return strings.Contains(req.URL.Path, "/leases") }

func isWatch(req *http.Request) bool { return req.URL.Query().Get("watch") != "" }

func answer(req *http.Request, code int) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{}, Body: http.NoBody, Request: req}
}

// weather says how many of a process's requests, out of a hundred, meet a fault.
type weather struct {
	faulty int
	// noElection holds back requests for the coordinator's Lease.
	noElection bool
	// lateTables lets each write of the table arrive late, in any order.
	lateTables bool
}

// weathers of processes; of one with 100, hardly anything arrives.
var weathers = []weather{{}, {faulty: 5}, {faulty: 20}, {faulty: 50}, {faulty: 100}, {noElection: true}}

// fault happens to a request.
type fault int

const (
	none        fault = iota
	lost              // the server doesn't get it, the client no answer
	late              // the server gets it after up to a minute, the client no answer
	unanswered        // the server gets it, the client no answer
	broken            // the server gets it, the client an error at once
	slow              // it takes up to 3 s, and the answer up to 8
	refused           // by a conflict, without a reason
	unavailable       // 503
	faults
)

var errConflict = []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","message":"the test says so","code":409}`)

// valve lets callers of wait pass while it is open.
type valve struct {
	mu     sync.Mutex    // mu guards the field below
	opened chan struct{} // closed when it opens; nil while it is open
}

func (v *valve) shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opened == nil {
		v.opened = make(chan struct{})
	}
}

func (v *valve) open() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.opened != nil {
		close(v.opened)
		v.opened = nil
	}
}

func (v *valve) wait(ctx context.Context) error {
	for {
		v.mu.Lock()
		opened := v.opened
		v.mu.Unlock()
		if opened == nil {
			return ctx.Err()
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// link is the network between a process and the server.
type link struct {
	process *process
	next    http.RoundTripper // set once at construction
	runs    valve             // nothing leaves the process while it is shut, and it gets nothing
	watches valve             // while it is shut, watches have no events; requests pass

	mu      sync.Mutex // mu guards the fields below
	random  *rand.Rand
	weather weather
	dead    bool
	streams int // of watches, that the client reads
}

func (l *link) setWeather(w weather) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.weather = w
}

// resume ends a pause, except of a process that was killed.
func (l *link) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dead {
		l.runs.open()
	}
}

// kill pauses the process for ever.
func (l *link) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
	l.runs.shut()
}

func (l *link) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// sleep waits for up to a time.
func (l *link) sleep(ctx context.Context, limit time.Duration) error {
	select {
	case <-time.After(l.upTo(limit)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hang waits until a client without an answer gives up, or its connection breaks.
func (l *link) hang(ctx context.Context) (*http.Response, error) {
	if err := l.sleep(ctx, 4*lease); err != nil {
		return nil, err
	}
	return nil, syscall.ECONNRESET
}

func (l *link) upTo(limit time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.random.Int64N(int64(limit)))
}

func (l *link) faultOf(req *http.Request) fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch name, ring := path.Base(req.URL.Path), l.process.history.options.Name; {
	case l.weather.noElection && name == ring:
		return lost
	case l.weather.lateTables && name == ring+"-table" && req.Method == http.MethodPut:
		return late
	}
	if l.random.IntN(100) >= l.weather.faulty {
		return none
	}
	f := fault(l.random.IntN(int(faults)))
	switch {
	case req.Method == http.MethodGet && (f == late || f == refused):
		return slow
	case !isLease(req) && (f == late || f == refused):
		// The fence cuts off a request that waits in this process. It can do nothing about one that
		// waits in the network; the Margin is for those.
		return broken
	}
	return f
}

// RoundTrip implements http.RoundTripper.
func (l *link) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	f := l.faultOf(req)
	if err := l.runs.wait(ctx); err != nil {
		return nil, err
	}
	switch f {
	case lost:
		return l.hang(ctx)
	case late:
		after := req.WithContext(context.WithoutCancel(ctx))
		time.AfterFunc(l.upTo(delayed), func() {
			if !l.isDead() {
				l.deliver(after)
			}
		})
		return l.hang(ctx)
	case unanswered:
		l.deliver(req)
		return l.hang(ctx)
	case broken:
		l.deliver(req)
		return nil, syscall.ECONNRESET
	case slow:
		if err := errors.Join(l.sleep(ctx, 3*time.Second), l.runs.wait(ctx)); err != nil {
			return nil, err
		}
	case refused:
		resp := answer(req, http.StatusConflict)
		resp.Header.Set("Content-Type", "application/json")
		resp.Body = io.NopCloser(strings.NewReader(string(errConflict)))
		return resp, nil
	case unavailable:
		return answer(req, http.StatusServiceUnavailable), nil
	}
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if f == slow {
		_ = l.sleep(ctx, 8*time.Second)
	}
	if err := l.runs.wait(ctx); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if isWatch(req) {
		l.addStreams(1)
		resp.Body = &laggingBody{ReadCloser: resp.Body, link: l, ctx: ctx, lags: f == slow}
	}
	return resp, nil
}

func (l *link) addStreams(n int) (now int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams += n
	return l.streams
}

func (l *link) deliver(req *http.Request) {
	if resp, err := l.next.RoundTrip(req); err == nil {
		_ = resp.Body.Close()
	}
}

// laggingBody is the stream of a watch.
type laggingBody struct {
	io.ReadCloser
	link *link
	ctx  context.Context
	lags bool

	closed sync.Once
}

// Close implements io.Closer.
func (b *laggingBody) Close() error {
	b.closed.Do(func() { b.link.addStreams(-1) })
	return b.ReadCloser.Close()
}

// Read waits before it returns events: while the process is paused, or hears nothing, and for some
// seconds on a stream that lags, as long as the weather is bad. Then the stream may also break.
func (b *laggingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.link.mu.Lock()
	faulty := b.link.weather.faulty
	breaks := b.link.random.IntN(100) < faulty/5
	b.link.mu.Unlock()
	if b.lags && faulty > 0 {
		_ = b.link.sleep(b.ctx, 5*time.Second)
	}
	if waiting := errors.Join(b.link.watches.wait(b.ctx), b.link.runs.wait(b.ctx)); waiting != nil {
		return 0, waiting
	}
	if breaks && err == nil {
		return 0, syscall.ECONNRESET
	}
	return n, err
}

// probeKey is in the context of requests that end behind the fence.
type probeKey struct{}

// passes reports whether the fence of the process lets a request pass.
func (p *process) passes(c *partition.Claim) bool {
	ctx := context.WithValue(context.WithValue(context.Background(), partition.ClaimKey{}, c), probeKey{}, true)
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, workURL, nil)
	if err != nil {
		panic(err)
	}
	resp, err := p.fenced.RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

// observe notes each request that has passed the fence.
func (p *process) observe(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.Context().Value(probeKey{}) != nil {
			return answer(req, http.StatusOK), nil
		}
		p.history.note("has passed the fence", &p.history.passed, p, partition.ClaimOf(req.Context()))
		return next.RoundTrip(req)
	})
}
