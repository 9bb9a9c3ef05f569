// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// transport lets requests pass in a term and cancels them at its end. Its connections hold back
// unsent bytes.
type transport struct {
	fence *Fence
	gate  *Gate // nil: claims make no difference
	next  http.RoundTripper
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	claim := t.gate.claimOf(req.Context())
	ctx, cancel := context.WithCancelCause(req.Context())
	term, err := t.fence.Current()
	c := &call{term: term, cancel: cancel}
	if err == nil && t.gate != nil {
		err = t.gate.admit(c, claim)
	}
	if err != nil {
		cancel(nil)
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("%s was not sent: %w", nameOf(req, claim), err)
	}
	c.detach = context.AfterFunc(term.ctx, func() { cancel(context.Cause(term.ctx)) })
	resp, err := t.next.RoundTrip(c.guarded(ctx, req))
	if err != nil {
		c.end()
		if ended := c.err(); ended != nil {
			if !errors.Is(err, ended) {
				err = fmt.Errorf("%w (%w)", ended, err)
			}
			err = fmt.Errorf("%s was cut off: %w", nameOf(req, claim), err)
		}
		return nil, err
	}
	body := responseBody{resp.Body, c, c.end}
	resp.Body = &body
	if conn, ok := body.ReadCloser.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		// The body is the connection. The caller also writes to it, and no context ends it.
		detach := context.AfterFunc(term.ctx, func() { _ = conn.Close() })
		body.end = func() {
			detach()
			c.end()
		}
		resp.Body = &connection{&body, conn}
		c.switches(conn)
	} else if req.Body == nil || req.Body == http.NoBody {
		c.received() // by the server
	}
	c.returning()
	return resp, nil
}

// nameOf names a request in an error.
func nameOf(req *http.Request, claim *partition.Claim) string {
	name := req.Method + " " + req.URL.Path
	if claim != nil {
		name = fmt.Sprintf("%s for bucket %d at epoch %d", name, claim.Bucket, claim.Epoch)
	}
	return name
}

// guarded returns a copy of a request whose body is not sent after the end, however long connecting
// takes.
func (c *call) guarded(ctx context.Context, req *http.Request) *http.Request {
	req = req.WithContext(c.traced(ctx))
	if c.agent != "" {
		header := http.Header{}
		maps.Copy(header, req.Header)
		header.Set("User-Agent", strings.TrimSpace(header.Get("User-Agent")+" "+c.agent))
		req.Header = header
	}
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &requestBody{req.Body, c}
	}
	if get := req.GetBody; get != nil {
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := get()
			if err != nil {
				return nil, err
			}
			return &requestBody{body, c}, nil
		}
	}
	return req
}

type requestBody struct {
	io.ReadCloser
	call *call
}

func (b *requestBody) Read(p []byte) (int, error) {
	if err := b.call.err(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	if ended := b.call.err(); ended != nil { // meanwhile
		return 0, ended
	}
	return n, err
}

type responseBody struct {
	io.ReadCloser
	call *call
	end  func()
}

func (b *responseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil || err == io.EOF && b.call.received() {
		return n, err
	}
	if ended := b.call.err(); ended != nil {
		err = fmt.Errorf("the response was cut off: %w (%v)", ended, err) // not an io.EOF
	}
	return n, err
}

func (b *responseBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// connection is the body of a 101 response.
type connection struct {
	*responseBody
	writer io.Writer
}

func (c *connection) Write(p []byte) (int, error) {
	if err := c.call.err(); err != nil {
		return 0, err
	}
	return c.writer.Write(p)
}
