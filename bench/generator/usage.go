// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// usage is what one or more programs have used, those that they have run and waited for included.
type usage struct {
	wall, cpu time.Duration
	// peak is the largest resident set of any of the processes, in bytes; 0 where the system
	// doesn't say.
	peak int64
}

// then is what two programs have used that ran one after the other.
func (u usage) then(next usage) usage {
	return usage{wall: u.wall + next.wall, cpu: u.cpu + next.cpu, peak: max(u.peak, next.peak)}
}

// program is one to run.
type program struct {
	dir  string
	env  []string
	path string
	args []string
}

// run runs a program to its end. The error has the beginning of what it has written.
func (p program) run(ctx context.Context) (usage, error) {
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	begun := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(begun)}
	if err != nil {
		return usage{}, fmt.Errorf("running %s in %s: %w\n%s", p.path, p.dir, err, beginning(output.String()))
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.peak = maxRSS(cmd.ProcessState)
	return u, nil
}

// beginning is as much of a text as one reads.
func beginning(text string) string {
	const lines = 20
	all := strings.SplitAfterN(text, "\n", lines+1)
	if len(all) > lines {
		all[lines] = "…"
	}
	return strings.Join(all, "")
}
