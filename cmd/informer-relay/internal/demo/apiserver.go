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

// devserver is a command that runs an API server. It is another process so that the relay doesn't
// link an API server.
const devserver = "github.com/informer-gen/informer-gen/devserver/cmd/devserver"

type apiServer struct {
	url string
	cmd *exec.Cmd
}

func startAPIServer(ctx context.Context) (*apiServer, error) {
	fail := func(err error) (*apiServer, error) {
		return nil, fmt.Errorf("starting an API server with 'go run %s' in the current folder: %w", devserver, err)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, "go", "run", devserver, "--built-in-kinds", "--control")
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	cmd.Cancel = stdin.Close // the server ends then; go run would not pass a signal on
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
		return fail(fmt.Errorf("it ended (%v) before it was ready\n%s", cmd.Wait(), stderr.String()))
	}
	return &apiServer{address, cmd}, nil
}

// wait waits for the end of the server, after its context's.
func (s *apiServer) wait() { _ = s.cmd.Wait() } // it was ended, which Wait reports

type watchCounter struct {
	url    string
	server *httptest.Server
	open   atomic.Int64
	total  atomic.Int64
}

func countWatches(address string) (*watchCounter, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1 // events don't wait
	c := &watchCounter{}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Has("watch") {
			c.total.Add(1)
			c.open.Add(1)
			defer c.open.Add(-1)
		}
		proxy.ServeHTTP(w, req)
	}))
	c.url = c.server.URL
	return c, nil
}

// String describes the open watches.
func (c *watchCounter) String() string {
	open, total := c.open.Load(), c.total.Load()
	return fmt.Sprintf("%d open watch%s (%d since the start)", open, map[bool]string{false: "es"}[open == 1], total)
}

func (c *watchCounter) close() { c.server.Close() }
