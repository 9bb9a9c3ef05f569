// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/control"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// The environment of a child process that is an API server.
const (
	dirVariable  = "INTEROP_SERVER_DIR"
	addrVariable = "INTEROP_SERVER_ADDR"
)

// serveInChild is the child process: an API server that its parent controls.
func serveInChild() error {
	ctx := context.Background()
	s, err := devserver.Start(ctx, devserver.Options{Dir: os.Getenv(dirVariable), Addr: os.Getenv(addrVariable)})
	if err != nil {
		return err
	}
	return control.Serve(ctx, s, os.Stdin, os.Stdout)
}

// process is an API server in a process of its own: this binary, started again. It can be killed,
// and its data outlive it.
type process struct {
	*control.Process
	dir string
}

// startProcess starts a server that ends with the test.
func startProcess(t *testing.T) *process {
	t.Helper()
	p := &process{dir: t.TempDir()}
	if err := p.start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
		defer cancel()
		if err := p.Quit(ctx); err != nil && !isKilled(err) {
			t.Errorf("stop the server: %v", err)
		}
	})
	return p
}

func (p *process) start(ctx context.Context, addr string) error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), dirVariable+"="+p.dir, addrVariable+"="+addr)
	cmd.Stderr = os.Stderr
	child, err := control.Start(ctx, cmd)
	if err != nil {
		return err
	}
	p.Process = child
	return nil
}

// startAgain starts the server that has ended, with its data and at its address.
func (p *process) startAgain(t *testing.T) {
	t.Helper()
	addr := strings.TrimPrefix(p.URL(), "http://")
	// A connection of another process may have the port for a moment.
	poll.Until(t, func() error { return p.start(t.Context(), addr) })
}

// isKilled reports whether a process has not ended by itself.
func isKilled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

func (p *process) config() *rest.Config { return &rest.Config{Host: p.URL(), QPS: -1} }

// client returns a client that writes, and reads without a cache.
func (p *process) client(t *testing.T, opts client.Options) client.Client {
	t.Helper()
	opts.HTTPClient = httpClient(t, p.config())
	c, err := client.New(p.config(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
