// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import "os/exec"

// inGroup leaves the interrupt to the console, which sends a Ctrl-C to all of its processes.
func inGroup(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return nil }
}

func killGroup(*exec.Cmd) {}
