// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"

	"github.com/informer-gen/informer-gen/bench/server"
)

// roleVariable is the environment variable with a child's role, in JSON. Children run the
// executable of this program, or of its test. They end when their standard input does, so they
// don't outlive their parent.
const roleVariable = "INFORMER_GEN_BENCH_ROLE"

// role is the task of a child: one run of a benchmark, or, without a benchmark, serving.
type role struct {
	Bench  string
	Side   Side
	Sizes  Sizes
	Server string
	Deep   bool

	CPUProfile string // file to write; "": none
}

// PlayRole plays the role set in the environment, and reports whether there was one.
func PlayRole(all []Bench) (played bool) {
	text, ok := os.LookupEnv(roleVariable)
	if !ok {
		return false
	}
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	orphaned := make(chan struct{})
	go func() { // until the process ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(orphaned)
	}()
	// Logs go to stderr, shown if the process fails.
	act := func(out io.Writer, orphaned <-chan struct{}) error { return r.run(all, out, orphaned) }
	if r.Bench == "" {
		act = server.Serve
	}
	if err := act(os.Stdout, orphaned); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	return true
}

func (r role) run(all []Bench, out io.Writer, orphaned <-chan struct{}) (err error) {
	go func() { // until the process ends
		<-orphaned
		os.Exit(3)
	}()
	b, err := byName(all, r.Bench)
	if err != nil {
		return err
	}
	o, err := b.Once(Env{Side: r.Side, Sizes: r.Sizes, Server: r.Server, Deep: r.Deep}, func(run func() (Outcome, error)) (Outcome, error) {
		if r.CPUProfile == "" {
			return run()
		}
		file, err := os.Create(r.CPUProfile)
		if err != nil {
			return Outcome{}, err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return Outcome{}, err
		}
		defer pprof.StopCPUProfile()
		return run()
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(o)
}

// Once prepares the benchmark, and passes its run to call.
func (b Bench) Once(e Env, call func(run func() (Outcome, error)) (Outcome, error)) (o Outcome, err error) {
	run, done, err := b.Prepare(e)
	if err != nil {
		return Outcome{}, err
	}
	if done != nil {
		defer func() { err = errors.Join(err, done()) }()
	}
	return call(run)
}

// Children starts processes; the zero value starts ordinary ones.
type Children struct {
	CPUProfile string // written by each process, over the previous one's
}

// Launch does one run in a process of its own.
func (c Children) Launch(b Bench, e Env) (Outcome, error) {
	p, err := start(role{
		Bench: b.Name, Side: e.Side, Sizes: e.Sizes, Server: e.Server,
		Deep:       e.Deep && c.CPUProfile == "", // otherwise the profile would show the comparison
		CPUProfile: c.CPUProfile,
	})
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	decodeErr := json.NewDecoder(p.out).Decode(&o)
	if err := p.wait(); err != nil {
		return Outcome{}, err
	}
	if decodeErr != nil {
		return Outcome{}, fmt.Errorf("reading the outcome: %w", decodeErr)
	}
	return o, nil
}

// process is this program in a role.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer // closing it ends the process
	out  *bufio.Reader
	errs *strings.Builder // its stderr
}

func start(r role) (*process, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), executable)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	p := &process{cmd: cmd, errs: &strings.Builder{}}
	cmd.Stderr = p.errs
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	return p, nil
}

// wait waits for the end of a process that ends by itself.
func (p *process) wait() error {
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, strings.TrimSpace(p.errs.String()))
	}
	return nil
}

func (p *process) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait() // it exits with an error, as it should
}
