// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// ErrNotLeading is wrapped by the errors of requests that were refused, and is the cause of the end
// of those that were cut off, because the process does not lead.
var ErrNotLeading = errors.New("this process does not lead")

// fence lets requests pass during a term: from the first success of the lease's holder until the
// last one is too old, or the term is ended. A term that is over never comes back.
type fence struct {
	mu    sync.Mutex      // mu guards what follows
	term  context.Context // of the present term, or the last one; nil before the first
	end   context.CancelCauseFunc
	until time.Time // when the term ends unless it is extended
	timer *time.Timer
}

// begin prepares a term. It begins with the first extend.
func (f *fence) begin(parent context.Context) (term context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.term, f.end = context.WithCancelCause(parent)
	f.until, f.timer = time.Time{}, nil
	return f.term
}

// extend lets requests pass until a time.
func (f *fence) extend(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.until.IsZero() && !f.openLocked() {
		return // the timer is late
	}
	f.until = until
	if f.timer == nil {
		end := f.end
		f.timer = time.AfterFunc(time.Until(until), func() {
			end(fmt.Errorf("%w any more: its last renewal of the lease is too old", ErrNotLeading))
		})
		return
	}
	f.timer.Reset(time.Until(until))
}

// shut ends the term.
func (f *fence) shut(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(cause)
	if f.timer != nil {
		f.timer.Stop()
	}
}

// open returns the present term, or ErrNotLeading if there is none.
func (f *fence) open() (term context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.openLocked() {
		return f.term, nil
	}
	return nil, ErrNotLeading
}

// openLocked looks at the clock as well: a process that was stopped finds the timer late.
func (f *fence) openLocked() bool {
	return f.term != nil && f.term.Err() == nil && time.Now().Before(f.until)
}

// transport lets requests pass while the fence is open, and cancels them when it shuts.
type transport struct {
	fence *fence
	next  http.RoundTripper
}

// WrappedRoundTripper is how client-go finds the transport below.
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
	detach := context.AfterFunc(term, func() { cancel(context.Cause(term)) })
	end := func() {
		detach()
		cancel(nil)
	}
	resp, err := t.next.RoundTrip(t.guarded(req.WithContext(ctx)))
	if err != nil {
		end()
		if term.Err() != nil {
			err = fmt.Errorf("%s %s was cut off: %w (%w)", req.Method, req.URL.Path, context.Cause(term), err)
		}
		return nil, err
	}
	body := responseBody{resp.Body, end}
	resp.Body = &body
	if both, ok := body.ReadCloser.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		// Its body is the connection. The caller also writes to it, and no context ends it.
		leave := context.AfterFunc(term, func() { _ = both.Close() })
		body.end = func() {
			leave()
			end()
		}
		resp.Body = &connection{&body, both}
	}
	return resp, nil
}

// guarded returns a request whose body is not sent once the fence is shut, however long it takes to
// connect.
func (t *transport) guarded(req *http.Request) *http.Request {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &requestBody{req.Body, t.fence}
	}
	if get := req.GetBody; get != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := get()
			if err != nil {
				return nil, err
			}
			return &requestBody{body, t.fence}, nil
		}
	}
	return req
}

type requestBody struct {
	io.ReadCloser
	fence *fence
}

func (b *requestBody) Read(p []byte) (int, error) {
	if _, err := b.fence.open(); err != nil {
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

// connection is the body of an answer that switches to another protocol.
type connection struct {
	*responseBody
	io.Writer
}
