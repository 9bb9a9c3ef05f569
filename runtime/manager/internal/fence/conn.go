// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dial wraps next: its connections send bytes only in the term in which they were made.
func (f *Fence) dial(next dialFunc) dialFunc {
	if next == nil {
		// client-go's default.
		next = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		term, err := f.Current()
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", address, err)
		}
		inner, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, term: term}
		switch inner := inner.(type) { // other types may do more in Write
		case *net.TCPConn:
			c.raw, err = inner.SyscallConn()
		case *net.UnixConn:
			c.raw, err = inner.SyscallConn()
		}
		if err != nil {
			_ = inner.Close()
			return nil, err
		}
		c.detach = context.AfterFunc(term.ctx, func() { _ = c.closeConn() })
		return c, nil
	}
}

// conn is a connection of a term. It looks at the clock before it sends. Only here can it hold back
// a complete, buffered request of a process that was stopped.
type conn struct {
	// set once at construction
	net.Conn
	term   *Term
	raw    syscall.RawConn // of Conn; nil if only its Write may send
	detach func() bool     // stops waiting for the end of the term

	isReset atomic.Bool
}

// err returns why nothing may be sent, or nil.
func (c *conn) err() error {
	if c.isReset.Load() {
		return net.ErrClosed
	}
	return c.term.Err()
}

func (c *conn) Close() error {
	c.detach()
	return c.closeConn()
}

// closeConn closes the connection. After the term, the kernel drops unsent bytes instead of sending
// them when the network is back.
func (c *conn) closeConn() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.err() != nil {
		_ = tcp.SetLinger(0) // fails only if it is closed
	}
	return c.Conn.Close()
}

// reset closes the innermost connection, and drops its unsent bytes. When it has returned, nothing
// leaves the process any more, not even by a Write that was waiting. Its user closes the others.
func reset(c net.Conn) {
	for {
		switch outer := c.(type) {
		case *conn:
			outer.isReset.Store(true)
			c = outer.Conn
		case interface{ NetConn() net.Conn }: // TLS
			c = outer.NetConn()
		case *net.TCPConn:
			_ = outer.SetLinger(0) // fails only if it is closed
			_ = outer.Close()
			return
		default:
			_ = outer.Close()
			return
		}
	}
}
