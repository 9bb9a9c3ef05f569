// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ErrNotLeading is wrapped by the errors of refused requests, and by the cancellation cause of
// requests cut off: this process does not lead.
var ErrNotLeading = errors.New("this process does not lead")

var (
	errEnded      = fmt.Errorf("%w any more: it has ended", ErrNotLeading)
	errExpired    = fmt.Errorf("%w any more: its last renewal of the lease is too old", ErrNotLeading)
	errTaken      = fmt.Errorf("%w any more: another one has the lease", ErrNotLeading)
	errNotRenewed = fmt.Errorf("%w any more: it could not renew the lease in time", ErrNotLeading)
)

// fence lets requests pass during a term.
type fence struct {
	current atomic.Pointer[term] // the current or last term; nil before the first
}

// term is a time in which this process leads: from its first write of the lease until its last one
// is too old, or the term is ended. A term never resumes.
type term struct {
	// set once at construction
	ctx context.Context // done at the end of the term or a moment later; the cause says why
	end context.CancelCauseFunc

	mu    sync.Mutex  // mu guards the fields below
	until time.Time   // end of the term unless extended; zero before it begins
	wall  time.Time   // until, by the wall clock alone
	timer *time.Timer // ends the term at until
}

// begin prepares a term. The first extend starts it.
func (f *fence) begin(parent context.Context) *term {
	t := &term{}
	t.ctx, t.end = context.WithCancelCause(parent)
	f.current.Store(t)
	return t
}

func (f *fence) open() (*term, error) {
	t := f.current.Load()
	if t == nil {
		return nil, ErrNotLeading
	}
	return t, t.err()
}

func (t *term) extend(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.until.IsZero() && t.errLocked() != nil {
		t.end(errExpired) // the timer is late
		return
	}
	t.until, t.wall = until, until.Round(0)
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Until(until), func() { t.end(errExpired) })
		return
	}
	t.timer.Reset(time.Until(until))
}

func (t *term) close(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end(cause)
	if t.timer != nil {
		t.timer.Stop()
	}
}

// err returns why nothing may be sent, or nil.
func (t *term) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.errLocked()
}

// errLocked also looks at the clock, because the timer of a stopped process is late, and at the
// wall clock, because the monotonic one stands still while a machine is suspended.
func (t *term) errLocked() error {
	switch {
	case t.ctx.Err() != nil:
		return context.Cause(t.ctx)
	case t.until.IsZero():
		return ErrNotLeading
	}
	if now := time.Now(); !now.Before(t.until) || !now.Round(0).Before(t.wall) {
		return errExpired
	}
	return nil
}

// transport lets requests pass in a term and cancels them at its end. Its connections hold back
// unsent bytes.
type transport struct {
	fence *fence
	next  http.RoundTripper
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	term, err := t.fence.open()
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%s %s was not sent: %w", req.Method, req.URL.Path, err)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	detach := context.AfterFunc(term.ctx, func() { cancel(context.Cause(term.ctx)) })
	end := func() {
		detach()
		cancel(nil)
	}
	resp, err := t.next.RoundTrip(term.guarded(req.WithContext(ctx)))
	if err != nil {
		end()
		if ended := term.err(); ended != nil {
			err = fmt.Errorf("%s %s was cut off: %w (%w)", req.Method, req.URL.Path, ended, err)
		}
		return nil, err
	}
	body := responseBody{resp.Body, end}
	resp.Body = &body
	if conn, ok := body.ReadCloser.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the connection. The caller also writes to it, and no context ends it.
		detach := context.AfterFunc(term.ctx, func() { _ = conn.Close() })
		body.end = func() {
			detach()
			end()
		}
		resp.Body = &connection{&body, conn}
	}
	return resp, nil
}

// guarded returns a request whose body is not sent after the term, however long connecting takes.
func (t *term) guarded(req *http.Request) *http.Request {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &requestBody{req.Body, t}
	}
	if get := req.GetBody; get != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := get()
			if err != nil {
				return nil, err
			}
			return &requestBody{body, t}, nil
		}
	}
	return req
}

type requestBody struct {
	io.ReadCloser
	term *term
}

func (b *requestBody) Read(p []byte) (int, error) {
	if err := b.term.err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

type responseBody struct {
	io.ReadCloser
	end func()
}

func (b *responseBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// connection is the body of a 101 response.
type connection struct {
	*responseBody
	io.Writer
}
