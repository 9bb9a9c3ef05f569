// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy is the network between one process and the server.
type proxy struct {
	target   string
	listener net.Listener
	wg       sync.WaitGroup
	closed   chan struct{}

	mu    sync.Mutex // mu guards the fields below
	delay time.Duration
	mute  bool // connections stay open, and nothing passes
	conns map[net.Conn]struct{}
}

// startProxy starts a proxy, which ends with the test.
func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{target: target, listener: l, closed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		close(p.closed)
		_ = l.Close()
		p.drop()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(near) })
	}
}

func (p *proxy) serve(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer far.Close()
	p.mu.Lock()
	p.conns[near], p.conns[far] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	ended := make(chan struct{}) // the client has closed or reset the connection
	both.Go(func() {
		defer far.Close()
		p.carry(far, near, ended)
	})
	p.carry(near, far, nil)
	_ = near.Close()
	_ = far.Close()
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, near)
	delete(p.conns, far)
}

// chunk is what was read, and when.
type chunk struct {
	data []byte
	at   time.Time
}

// carry copies from one connection to the other. When a client resets its connection, TCP repeats
// nothing any more, so bytes on their way are lost: ended, if not nil, is closed then.
func (p *proxy) carry(to io.Writer, from io.Reader, ended chan struct{}) {
	chunks := make(chan chunk, 1<<12)
	p.wg.Go(func() {
		defer close(chunks)
		if ended != nil {
			defer close(ended)
		}
		for {
			buf := make([]byte, 32<<10)
			n, err := from.Read(buf)
			if n > 0 {
				select {
				case chunks <- chunk{buf[:n], time.Now()}:
				case <-p.closed:
					return
				}
			}
			if err != nil {
				return
			}
		}
	})
	for c := range chunks {
		if !p.hold(c.at, ended) {
			continue
		}
		if _, err := to.Write(c.data); err != nil {
			for range chunks { // the reader ends by its own error
				select {
				case <-p.closed:
					return
				default:
				}
			}
			return
		}
	}
}

// hold waits until a chunk may pass, and reports whether it does.
func (p *proxy) hold(read time.Time, ended chan struct{}) bool {
	for {
		p.mu.Lock()
		pass := !p.mute && time.Since(read) >= p.delay
		p.mu.Unlock()
		if pass {
			return true
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ended:
			return false
		case <-p.closed:
			return false
		}
	}
}

// set changes the network: everything is delayed, or nothing passes although connections stay open.
func (p *proxy) set(delay time.Duration, mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.mute = delay, mute
}

// drop closes all connections.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}
