// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// replica is a member's process.
type replica struct {
	name    string
	process *os.Process
	ended   chan struct{} // closed when the process has ended
	logs    strings.Builder

	mu   sync.Mutex
	last report
}

// startReplica starts this program once more. The replica ends when its standard input does, so
// none outlives this process.
func startReplica(name, server string, s *settings) (*replica, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &replica{name: name, ended: make(chan struct{})}
	cmd := exec.Command(program, append([]string{"--member=" + name, "--server=" + server}, s.args...)...)
	cmd.Stderr = &r.logs
	if s.verbose {
		cmd.Stderr = os.Stderr
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.process = cmd.Process
	go func() {
		defer close(r.ended)
		r.read(stdout)
		_ = cmd.Wait() // the last report says why it has ended
		stdin.Close()
	}()
	return r, nil
}

func (r *replica) read(reports io.Reader) {
	decoder := json.NewDecoder(reports)
	for {
		var next report
		if decoder.Decode(&next) != nil {
			return
		}
		r.mu.Lock()
		r.last = next
		r.mu.Unlock()
	}
}

// report returns the last report of the replica. An ended one owns nothing.
func (r *replica) report() report {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.last
	if r.hasEnded() {
		last.Buckets, last.Namespaces = 0, nil
	}
	return last
}

func (r *replica) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *replica) signal(sig syscall.Signal) error {
	if err := r.process.Signal(sig); err != nil {
		return fmt.Errorf("sending %v to %s: %w", sig, r.name, err)
	}
	return nil
}

// await waits until the process has ended.
func (r *replica) await(ctx context.Context, limit time.Duration) error {
	select {
	case <-r.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(limit):
		return fmt.Errorf("%s has not ended after %v", r.name, limit)
	}
}

// end ends the process, in order if it can.
func (r *replica) end(limit time.Duration) {
	_ = r.process.Signal(syscall.SIGTERM) // or it has ended
	_ = r.process.Signal(syscall.SIGCONT)
	select {
	case <-r.ended:
	case <-time.After(limit):
		_ = r.process.Kill()
		<-r.ended
	}
}
