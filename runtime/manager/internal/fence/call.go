// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"io"
	"net"
	"net/http/httptrace"
	"sync"
)

// call is an admitted request, until its response is closed.
type call struct {
	// set once at construction
	term   *Term
	bucket *bucket // nil if only the term guards it
	agent  string  // names the claim in the User-Agent
	cancel context.CancelCauseFunc
	detach func() bool // stops waiting for the end of the term

	mu       sync.Mutex // mu guards the fields below
	cause    error      // why the bucket was shut
	conns    []net.Conn // that may hold bytes of the request
	switched io.Closer  // the connection that is the response; nil for others
	returned bool       // RoundTrip has
	returns  func()     // called when it does; may be nil
}

// err returns why nothing of the request may be sent, or nil.
func (c *call) err() error {
	c.mu.Lock()
	cause := c.cause
	c.mu.Unlock()
	if cause != nil {
		return cause
	}
	return c.term.Err()
}

// traced returns a context that tells the call which connections it uses. The end of a term closes
// all connections, so only calls of buckets need that.
func (c *call) traced(ctx context.Context) context.Context {
	if c.bucket == nil {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { c.uses(info.Conn) }})
}

// uses is called before the transport writes to a connection.
func (c *call) uses(conn net.Conn) {
	c.mu.Lock()
	ended := c.cause != nil
	if !ended {
		c.conns = append(c.conns, conn)
	}
	c.mu.Unlock()
	if ended {
		reset(conn) // transports may write in spite of the context
	}
}

// received notes that no connection holds bytes of the request any more, and others may use it. It
// returns false if the call was cut off before: then an end of the response says nothing, because
// the server may have ended it early.
func (c *call) received() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.switched == nil {
		c.conns = nil
	}
	return c.cause == nil
}

// switches notes that the response is a connection.
func (c *call) switches(conn io.Closer) {
	c.mu.Lock()
	c.switched = conn
	ended := c.cause != nil
	c.mu.Unlock()
	if ended {
		_ = conn.Close()
	}
}

// end forgets the call: it has failed, or its response is closed.
func (c *call) end() {
	c.detach()
	c.cancel(nil)
	if c.bucket != nil {
		c.bucket.remove(c)
	}
	c.returning()
}

func (c *call) returning() {
	c.mu.Lock()
	returns := c.returns
	c.returned, c.returns = true, nil
	c.mu.Unlock()
	if returns != nil {
		returns()
	}
}

// cut cancels the call and drops its unsent bytes. returns is called when RoundTrip has returned.
func (c *call) cut(cause error, returns func()) {
	c.mu.Lock()
	conns, switched, returned := c.conns, c.switched, c.returned
	c.cause, c.conns = cause, nil
	if !returned {
		c.returns = returns
	}
	c.mu.Unlock()
	c.cancel(cause) // before the reset, after which the transport would send it anew
	for _, conn := range conns {
		reset(conn)
	}
	if switched != nil {
		_ = switched.Close()
	}
	if returned {
		returns()
	}
}
