// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// taskVariable is the environment variable by which a process learns that it is clients, and what
// they do, as a Task in JSON.
const taskVariable = "INFORMER_GEN_BENCH_CLIENTS"

// Task is what clients do, all at the same time, each over a connection of its own.
type Task struct {
	URL     string
	Clients int
	Times   int    // how often each client asks, one time after the other
	Until   string // the line of an answer with which it ends for the client; "": it ends by itself
}

// Count is what clients have got.
type Count struct {
	Open   int   // how many have begun to get an answer
	Done   int   // how many have got all their answers
	Lines  int64 // of all answers; each event of a watch is one
	Bytes  int64 // of all answers
	Failed string
}

// PlayRole is the clients if the environment asks for it, and reports whether it did.
func PlayRole() bool {
	text, ok := os.LookupEnv(taskVariable)
	if !ok {
		return false
	}
	var t Task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		err = t.do(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	return true
}

// Clients is the process of clients.
type Clients struct {
	cmd    *exec.Cmd
	orders io.WriteCloser
	counts *json.Decoder
	errs   *strings.Builder
}

// Start starts clients. They end when Stop is called, or this process ends.
func Start(t Task) (*Clients, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	c := &Clients{cmd: exec.CommandContext(context.Background(), executable), errs: &strings.Builder{}}
	c.cmd.Env = append(os.Environ(), taskVariable+"="+string(text))
	c.cmd.Stderr = c.errs
	if c.orders, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	counts, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.counts = json.NewDecoder(counts)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting clients: %w", err)
	}
	return c, nil
}

// Count returns what the clients have got by now.
func (c *Clients) Count() (n Count, err error) {
	if _, err = c.orders.Write([]byte("\n")); err == nil {
		err = c.counts.Decode(&n)
	}
	if err != nil {
		return n, fmt.Errorf("asking clients: %w %s", err, c.errs)
	}
	if n.Failed != "" {
		return n, errors.New("a client has failed: " + n.Failed)
	}
	return n, nil
}

// Await waits until the clients have got enough. It fails if nothing has come for a minute.
func (c *Clients) Await(enough func(Count) bool) (Count, error) {
	var before Count
	for progress := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		n, err := c.Count()
		if err != nil || enough(n) {
			return n, err
		}
		if n != before {
			before, progress = n, time.Now()
		}
		if time.Since(progress) > time.Minute {
			return n, fmt.Errorf("clients have got nothing for a minute; they have %+v", n)
		}
	}
}

// Stop ends the clients.
func (c *Clients) Stop() error {
	_ = c.orders.Close()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("clients: %w %s", err, c.errs)
	}
	return nil
}
