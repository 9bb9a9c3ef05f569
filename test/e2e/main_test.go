// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain asserts for all tests together that informers leave no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

// patience is how long tests wait for what should come soon.
const patience = 30 * time.Second

var (
	binary string   // the devserver command
	shared *cluster // for tests that don't compact, stop or kill it
)

// suite runs the tests between the build of the server and the end of the shared one.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	code, err := s.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return max(code, 1)
	}
	return code
}

func (s suite) run() (code int, err error) {
	dir, err := os.MkdirTemp("", "e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary = filepath.Join(dir, "devserver.exe") // a name that will do for every system
	build := exec.Command("go", "build", "-o", binary, "./cmd/devserver")
	build.Dir = filepath.Join("..", "..", "devserver")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the devserver: %w\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if shared, err = startCluster(ctx, ""); err != nil {
		return 0, err
	}
	code = s.m.Run()
	ctx, cancel = context.WithTimeout(context.Background(), patience)
	defer cancel()
	return code, shared.stop(ctx)
}
