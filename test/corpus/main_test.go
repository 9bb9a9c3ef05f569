// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/devserver/control"
)

// patience bounds the start and the stop of the server, also on a busy machine.
const patience = 3 * time.Minute

// serverURL is the URL of the devserver, which has the CRDs of all projects.
var serverURL string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs the tests between the start and the end of the server.
func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "devserver.exe") // a valid name on every system
	build := exec.Command("go", "build", "-o", binary, "./cmd/devserver")
	build.Dir = filepath.Join("..", "..", "devserver")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the devserver: %w\n%s", err, out)
	}
	flags := []string{"--control"}
	for _, p := range projects {
		if p.crds == "" {
			continue
		}
		folder, err := p.path(p.crds)
		if err != nil {
			return 0, err
		}
		flags = append(flags, "--crds", folder)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.Command(binary, flags...)
	cmd.Stderr = os.Stderr
	server, err := control.Start(ctx, cmd)
	if err != nil {
		return 0, err
	}
	serverURL = server.URL()
	code = m.Run()
	ctx, cancel = context.WithTimeout(context.Background(), patience)
	defer cancel()
	return code, server.Quit(ctx)
}
