// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestMain asserts that all tests together leave no goroutine behind.
func TestMain(m *testing.M) {
	if url := os.Getenv(candidateEnv); url != "" {
		os.Exit(candidate(url))
	}
	if env := os.Getenv(busyEnv); env != "" {
		os.Exit(busyMain(env))
	}
	goleak.VerifyTestMain(suite{m})
}

var seedFlag = flag.Uint64("seed", 0, "seed of the tests with random changes; 0 means another one each time")

var (
	binary string   // the devserver command
	shared *cluster // for tests that don't compact, stop or kill it
)

// suite builds the server, runs the tests, and stops the shared server.
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
	binary = filepath.Join(dir, "devserver.exe") // a valid name on every system
	build := exec.Command("go", "build", "-o", binary, "./cmd/devserver")
	build.Dir = filepath.Join("..", "..", "devserver")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the devserver: %w\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	if shared, err = startCluster(ctx, ""); err != nil {
		return 0, err
	}
	code = s.m.Run()
	ctx, cancel = context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	if err := shared.stop(ctx); err != nil || code != 0 {
		return code, err
	}
	for left := goleak.Find(); left != nil && ctx.Err() == nil; { // half a second is too short
		left = goleak.Find()
	}
	return code, nil
}

// randomly returns a test's source of random numbers, and logs the command that repeats them.
func randomly(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to make the same changes again: go test ./test/e2e -run '^%s$' -seed %d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}
