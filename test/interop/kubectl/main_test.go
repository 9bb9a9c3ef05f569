// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
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

// cluster is a server to run kubectl against.
type cluster struct{ url, home string }

// run runs kubectl with the words of a command line, which a blank separates.
func (c *cluster) run(t *testing.T, line string) (code int, output string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--server=" + c.url, "--cache-dir=" + c.home + "/cache"}, strings.Fields(line)...)
	k := exec.CommandContext(t.Context(), self, args...)
	// diff runs the program of this name.
	k.Env = []string{asKubectl + "=1", "HOME=" + c.home, "KUBECONFIG=" + c.home + "/none", "KUBERC=off", "NO_PROXY=*", "PATH=" + os.Getenv("PATH")}
	var both bytes.Buffer
	k.Stdout, k.Stderr = &both, &both
	err = k.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return k.ProcessState.ExitCode(), both.String()
}

// want runs kubectl, and asserts its exit code and parts of its output.
func (c *cluster) want(t *testing.T, line string, code int, parts ...string) {
	t.Helper()
	got, output := c.run(t, line)
	ok := got == code
	for _, part := range parts {
		ok = ok && strings.Contains(output, part)
	}
	if !ok {
		t.Errorf("kubectl %s exits with %d and prints\n%s\nwant %d and %q", line, got, output, code, parts)
	}
}
