// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

type ended struct {
	name string
	code int
}

func (e ended) Error() string { return fmt.Sprintf("%s has ended with exit code %d", e.name, e.code) }

// runCommand runs a command with KUBECONFIG set and waits for its end. When ctx ends, the command
// and the processes it has started are interrupted, and killed after half a minute. If the command
// fails, the error is an ended.
func runCommand(ctx context.Context, command []string, kubeconfig string, out, errOut io.Writer) error {
	name := command[0]
	kubeconfig, err := filepath.Abs(kubeconfig)
	if err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	cmd := exec.CommandContext(ctx, name, command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = out, errOut
	cmd.WaitDelay = 30 * time.Second
	inGroup(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		killGroup(cmd)
	}
	if cmd.ProcessState == nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	if code := exitCode(cmd.ProcessState); code != 0 {
		return ended{name, code}
	}
	return nil
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
