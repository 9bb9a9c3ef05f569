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

// held is a connection whose end is noticed by the garbage collector.
type held struct{ net.Conn }

// holding is a listener that knows the last connection.
type holding struct {
	*informertest.Pipes
	last weak.Pointer[held]
}

func (h *holding) Accept() (net.Conn, error) {
	conn, err := h.Pipes.Accept()
	if err != nil {
		return nil, err
	}
	last := &held{conn}
	h.last = weak.Make(last)
	return last, nil
}

// TestAClosedConnectionIsForgotten soon, also if requests were under way on it. After such an end,
// net/http keeps what it has of an HTTP/2 connection for IdleTimeout: 12 KB and more.
func TestAClosedConnectionIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serve.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
		listener, ended := &holding{Pipes: informertest.NewPipes()}, make(chan error)
		go func() { ended <- server.Serve(listener) }()
		connectAndLeave(t, listener.Pipes)
		time.Sleep(31 * time.Second)
		for range 3 { // what is in a sync.Pool goes in the second
			runtime.GC()
		}
		if listener.last.Value() != nil {
			t.Error("it is still there after 31 seconds")
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
