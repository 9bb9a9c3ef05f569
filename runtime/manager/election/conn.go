// SPDX-License-Identifier: Apache-2.0

package election

import (
	"context"
	"fmt"
	"net"
	"syscall"
	"time"
)

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns next with connections that carry bytes only in the term in which they were made.
func (f *fence) dial(next dialFunc) dialFunc {
	if next == nil {
		// As client-go does it.
		next = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		term, err := f.open()
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", address, err)
		}
		below, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: below, term: term}
		switch below := below.(type) { // others may have a Write that does more
		case *net.TCPConn:
			c.raw, err = below.SyscallConn()
		case *net.UnixConn:
			c.raw, err = below.SyscallConn()
		}
		if err != nil {
			_ = below.Close()
			return nil, err
		}
		c.detach = context.AfterFunc(term.ctx, func() { _ = c.shut() })
		return c, nil
	}
}

// conn is a connection of a term, and looks at the clock before it sends something. Only here can a
// request be held back that is complete, in a buffer, when the process is stopped.
type conn struct {
	// set once at construction
	net.Conn
	term   *term
	raw    syscall.RawConn // of Conn; nil if bytes must be sent by its Write
	detach func() bool     // from the end of the term
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.detach()
	return c.shut()
}

// shut closes the connection. If the term is over, the kernel drops the bytes that it has not sent
// yet, instead of sending them when the network is back.
func (c *conn) shut() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.term.err() != nil {
		_ = tcp.SetLinger(0) // an error means that it is closed
	}
	return c.Conn.Close()
}
