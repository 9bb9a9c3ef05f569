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

// The environment of a child process: an API server.
const (
	dirVariable  = "INTEROP_SERVER_DIR"
	addrVariable = "INTEROP_SERVER_ADDR"
)

// serveInChild is the main function of the child process: an API server, controlled by its parent.
func serveInChild() error {
	ctx := context.Background()
	s, err := devserver.Start(ctx, devserver.Options{Dir: os.Getenv(dirVariable), Addr: os.Getenv(addrVariable)})
	if err != nil {
		return err
	}
	return control.Serve(ctx, s, os.Stdin, os.Stdout)
}

// serverProcess is an API server in a child process, which runs this binary. It can be killed, and
// its data outlive it.
type serverProcess struct {
	*control.Process
	dir string
}

// startProcess starts a server, which ends with the test.
func startProcess(t *testing.T) *serverProcess {
	t.Helper()
	p := &serverProcess{dir: t.TempDir()}
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

func (p *serverProcess) start(ctx context.Context, addr string) error {
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

// startAgain starts an ended server again, with its data and at its address.
func (p *serverProcess) startAgain(t *testing.T) {
	t.Helper()
	addr := strings.TrimPrefix(p.URL(), "http://")
	// Another process's connection may hold the port for a moment.
	poll.Until(t, func() error { return p.start(t.Context(), addr) })
}

// isKilled reports whether a signal has ended a process.
func isKilled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

func (p *serverProcess) config() *rest.Config { return &rest.Config{Host: p.URL(), QPS: -1} }

// client returns a client without a cache.
func (p *serverProcess) client(t *testing.T, opts client.Options) client.Client {
	t.Helper()
	opts.HTTPClient = httpClient(t, p.config())
	c, err := client.New(p.config(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
