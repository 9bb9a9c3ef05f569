// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/request"
)

// NewServer returns a server for a [Handler], or for a handler in front of one, with limits that
// suit watches. The caller sets Addr and TLSConfig. [Limit] bounds the number of connections.
//
//   - A client has 10 seconds for the TLS handshake, and 10 for a request's header, at most 64
//     KiB; a connection without requests is closed after 30 seconds.
//   - A request with a body has a minute for all of it, and over HTTP/2 for its body. GET and
//     HEAD with a body are refused with 400, and their connections closed.
//   - There is no ReadTimeout and no WriteTimeout: they would end watches. The Handler limits the
//     time of each write itself.
//   - An HTTP/2 connection may have 1,000 streams; each watch needs one. It is pinged after 30
//     seconds of silence, and closed 15 seconds later without an answer.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           limitBodies(handler),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 1000,
			SendPingTimeout:      30 * time.Second,
			PingTimeout:          15 * time.Second,
			WriteByteTimeout:     2 * time.Minute,
		},
	}
}

const (
	// idleTimeout is how long a connection may be without requests. It is short because of HTTP/2:
	// if a connection ends in the middle of a request, net/http starts the timer once more and
	// keeps its memory that long, which no limit counts.
	idleTimeout = 30 * time.Second
	// requestTimeout is how long a request with a body may take, as in an API server.
	requestTimeout = time.Minute
	// refusedBodyTimeout is how long a client may take to send a refused body.
	refusedBodyTimeout = time.Second
)

// limitBodies wraps next with a read deadline for requests with a body: net/http waits without one
// for the part next doesn't read.
func limitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		control := http.NewResponseController(w) // there are no deadlines without a network
		switch {
		case req.ContentLength == 0:
			next.ServeHTTP(w, req)
		case req.Method == http.MethodGet || req.Method == http.MethodHead:
			_ = control.SetReadDeadline(time.Now().Add(refusedBodyTimeout))
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Type", string(request.JSON))
			w.WriteHeader(http.StatusBadRequest)
			// An error means the client has gone.
			_ = json.NewEncoder(w).Encode(statusOf(apierrors.NewBadRequest("a GET or HEAD request must not have a body")))
		default:
			_ = control.SetReadDeadline(time.Now().Add(requestTimeout))
			next.ServeHTTP(w, req)
		}
	})
}

// Limit returns a listener that accepts at most total connections at a time, and perIP of one IP
// address; 0 means any number. Further connections are closed as soon as they are accepted. Behind
// a proxy, or a Service whose traffic is not local, the address is the proxy's or the node's.
func Limit(l net.Listener, total, perIP int) net.Listener {
	return &limitedListener{Listener: l, total: total, perIP: perIP, byIP: map[netip.Addr]int{}}
}

type limitedListener struct {
	net.Listener

	// set once at construction
	total, perIP int

	mu   sync.Mutex // mu guards what follows
	open int
	byIP map[netip.Addr]int // only addresses with a connection
}

// Accept returns the next connection within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		ip := ipOf(conn)
		if l.acquire(ip) {
			return &limitedConn{Conn: conn, onClose: func() { l.release(ip) }}, nil
		}
		_ = conn.Close() // its client can't be told anything
	}
}

func (l *limitedListener) acquire(ip netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total > 0 && l.open >= l.total || l.perIP > 0 && l.byIP[ip] >= l.perIP {
		return false
	}
	l.open++
	l.byIP[ip]++
	return true
}

func (l *limitedListener) release(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.byIP[ip]--; l.byIP[ip] == 0 {
		delete(l.byIP, ip)
	}
}

func ipOf(conn net.Conn) netip.Addr {
	addr, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return addr.Addr().Unmap()
}

type limitedConn struct {
	net.Conn
	once    sync.Once
	onClose func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.onClose)
	return err
}
