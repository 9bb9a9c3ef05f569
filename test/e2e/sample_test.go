// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSampleRunsOnTheServer runs examples/crd-sample on a real API server, as README does: to its
// end, and until an interrupt.
func TestSampleRunsOnTheServer(t *testing.T) {
	t.Parallel()
	sample := filepath.Join(t.TempDir(), "crd-sample.exe")
	build := exec.Command("go", "build", "-o", sample, "./crd-sample")
	build.Dir = filepath.Join("..", "..", "examples")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build crd-sample: %v\n%s", err, out)
	}
	for _, test := range []struct {
		flag string
		want []string // steps, in order
	}{
		{"--watch=false", []string{"server", "install", "create", "sync", "handlers", "control", "clear", "end"}},
		{"--watch", []string{"server", "install", "control", "watch", "clear", "end"}},
	} {
		kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
		cmd := exec.CommandContext(deadline(t), binary, "--built-in-kinds", "--kubeconfig", kubeconfig,
			"--", sample, "--generate=false", "--kubeconfig", kubeconfig, test.flag)
		var said, errs strings.Builder
		cmd.Stderr = &errs
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want := test.want
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			said.WriteString(lines.Text() + "\n")
			fields := strings.Fields(lines.Text()) // seconds, "s", the step
			if len(fields) > 2 && len(want) > 0 && fields[2] == want[0] {
				want = want[1:]
				if fields[2] == "watch" { // goes on until an interrupt
					if err := cmd.Process.Signal(os.Interrupt); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := cmd.Wait(); err != nil || len(want) > 0 {
			t.Errorf("crd-sample %s: error %v; of the steps %v, missing or in another order: %v\n%s%s", test.flag, err, test.want, want, said.String(), errs.String())
		}
	}
}
