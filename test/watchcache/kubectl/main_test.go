// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// asKubectl is the environment variable that makes this binary kubectl.
const asKubectl = "RUN_AS_KUBECTL"

func TestMain(m *testing.M) {
	if os.Getenv(asKubectl) != "" {
		// exits if there is an error
		util.CheckErr(cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()))
		os.Exit(0)
	}
	devservertest.VerifyTestMain(m)
}

// kubectl is a run of kubectl.
type kubectl struct {
	*exec.Cmd
	out, err buffer
}

// start starts kubectl against a server, with the words of line as its arguments. It is killed when
// ctx ends.
func start(ctx context.Context, t *testing.T, s *side, line string) *kubectl {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--server=" + s.url, "--cache-dir=" + s.home + "/cache"}, strings.Fields(line)...)
	k := &kubectl{Cmd: exec.CommandContext(ctx, self, args...)}
	k.Env = []string{asKubectl + "=1", "HOME=" + s.home, "KUBECONFIG=" + s.home + "/none", "KUBERC=off", "NO_PROXY=*"}
	k.Stdout, k.Stderr = &k.out, &k.err
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	return k
}

// wait waits for the end and returns the exit code.
func (k *kubectl) wait(t *testing.T) int {
	t.Helper()
	err := k.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return k.ProcessState.ExitCode()
}

// buffer is the output of a process so far.
type buffer struct {
	mu   sync.Mutex // mu guards text
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
