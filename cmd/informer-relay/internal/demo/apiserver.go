// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
)

// devserver is the command that is an API server. It is another process, so that the relay does not
// have to be linked with an API server.
const devserver = "github.com/informer-gen/informer-gen/devserver/cmd/devserver"

// apiServer is an API server in a child process.
type apiServer struct {
	url string
	cmd *exec.Cmd
}

// startAPIServer starts one that ends with ctx.
func startAPIServer(ctx context.Context) (*apiServer, error) {
	fail := func(err error) (*apiServer, error) {
		return nil, fmt.Errorf("starting an API server by 'go run %s', in this folder: %w", devserver, err)
	}
	var said strings.Builder
	cmd := exec.CommandContext(ctx, "go", "run", devserver, "--built-in-kinds", "--control")
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	cmd.Cancel = stdin.Close // which the server obeys, and go run would not pass on
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fail(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		_ = stdin.Close()
		return fail(fmt.Errorf("it ended (%v) before it was ready\n%s", cmd.Wait(), said.String()))
	}
	return &apiServer{address, cmd}, nil
}

// wait waits until the server has ended, after its context.
func (s *apiServer) wait() { _ = s.cmd.Wait() } // it was ended, which Wait reports

// counter is a proxy that counts the watches that are open at an API server.
type counter struct {
	url    string
	server *httptest.Server
	open   atomic.Int64
	begun  atomic.Int64
}

// countWatches returns a proxy to the API server at an address.
func countWatches(address string) (*counter, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // events don't wait
	c := &counter{}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Has("watch") {
			c.begun.Add(1)
			c.open.Add(1)
			defer c.open.Add(-1)
		}
		proxy.ServeHTTP(w, req)
	}))
	c.url = c.server.URL
	return c, nil
}

// String returns how many watches are open.
func (c *counter) String() string {
	open, begun := c.open.Load(), c.begun.Load()
	return fmt.Sprintf("%d open watch%s (%d since the start)", open, map[bool]string{false: "es"}[open == 1], begun)
}

func (c *counter) close() { c.server.Close() }
