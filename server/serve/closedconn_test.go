// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/server/serve"
)

// trackedConn is a connection with its own allocation, for weak pointers.
type trackedConn struct{ net.Conn }

// trackingListener is a listener with a weak pointer to its last connection.
type trackingListener struct {
	*informertest.Pipes
	last weak.Pointer[trackedConn]
}

func (h *trackingListener) Accept() (net.Conn, error) {
	conn, err := h.Pipes.Accept()
	if err != nil {
		return nil, err
	}
	last := &trackedConn{conn}
	h.last = weak.Make(last)
	return last, nil
}

// TestClosedConnectionIsCollected shows that a connection closed during a request is freed soon.
// net/http keeps such an HTTP/2 connection's memory, 12 KB or more, for IdleTimeout.
func TestClosedConnectionIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serve.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
		listener, ended := &trackingListener{Pipes: informertest.NewPipes()}, make(chan error)
		go func() { ended <- server.Serve(listener) }()
		connectAndLeave(t, listener.Pipes)
		time.Sleep(31 * time.Second)
		for range 3 { // a sync.Pool is emptied by the second one
			runtime.GC()
		}
		if listener.last.Value() != nil {
			t.Error("the connection is still in memory after 31 seconds")
		}
		server.Close()
		<-ended
	})
}

// connectAndLeave opens a stream, and closes the connection.
func connectAndLeave(t *testing.T, listener *informertest.Pipes) {
	client, err := listener.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, client) }()
	if _, err := io.WriteString(client, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+ // SETTINGS
		"\x00\x00\x06\x01\x05\x00\x00\x00\x01"+"\x82\x86\x84\x41\x01x"); err != nil { // GET /
		t.Fatal(err)
	}
	synctest.Wait()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}
