// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// Process is a devserver in a child process. [Start] makes one. Its methods are safe for concurrent
// use; commands run one after the other.
type Process struct {
	// set once in Start
	cmd   *exec.Cmd
	url   string
	stdin io.WriteCloser
	lines chan string   // the child's lines; closed at the end of its stdout
	done  chan struct{} // closed when the child has ended
	quit  chan struct{} // closed by Kill: lines are not read any more

	killOnce sync.Once

	turn chan struct{} // one token: its holder may send a command
	lost bool          // turn guards it: an answer was given up, so later ones can't be matched

	err error // written before done is closed
}

// Start starts cmd, which must speak this package's protocol, and waits until it says ready. cmd's
// Stdin and Stdout must not be set; Stderr may be. If ctx ends first, or cmd says something else or
// ends, Start kills the child and returns an error with the reason, which wraps context.Cause(ctx).
func Start(ctx context.Context, cmd *exec.Cmd) (*Process, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("control: start %s: %w", cmd, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("control: start %s: %w", cmd, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("control: start %s: %w", cmd, err)
	}
	p := &Process{
		cmd:   cmd,
		stdin: stdin,
		lines: make(chan string),
		done:  make(chan struct{}),
		quit:  make(chan struct{}),
		turn:  make(chan struct{}, 1),
	}
	p.turn <- struct{}{}
	go p.read(stdout)

	select {
	case line, ok := <-p.lines:
		url, ready := strings.CutPrefix(line, "ready ")
		if ok && ready {
			p.url = url
			return p, nil
		}
		p.Kill()
		if !ok {
			return nil, fmt.Errorf("control: start %s: it ended before it was ready: %w", cmd, orExit0(p.err))
		}
		return nil, fmt.Errorf("control: start %s: it said %q where ready was due", cmd, line)
	case <-ctx.Done():
		p.Kill()
		return nil, fmt.Errorf("control: start %s: %w", cmd, context.Cause(ctx))
	}
}

// URL returns the server's base URL.
func (p *Process) URL() string { return p.url }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Compact calls Compact of the child's Server.
func (p *Process) Compact(ctx context.Context) (resourceVersion int64, err error) {
	return number(p.do(ctx, "compact"))
}

// EndWatches calls EndWatches of the child's Server.
func (p *Process) EndWatches(ctx context.Context) (int, error) {
	n, err := number(p.do(ctx, "end-watches"))
	return int(n), err
}

// ExpireWatches calls ExpireWatches of the child's Server.
func (p *Process) ExpireWatches(ctx context.Context) error {
	_, err := p.do(ctx, "expire-watches")
	return err
}

// Quit stops the server and waits for the child's end. It returns nil if the child exits, or has
// exited, with code 0. If ctx ends first the child is killed, and the error wraps
// context.Cause(ctx).
func (p *Process) Quit(ctx context.Context) error {
	p.stdin.Close() // the end of stdin means quit, and needs no turn
	for lines := p.lines; ; {
		select {
		case _, ok := <-lines: // an answer that no call waits for
			if !ok {
				lines = nil
			}
		case <-p.done:
			return p.err
		case <-ctx.Done():
			p.Kill()
			return fmt.Errorf("control: quit: %w", context.Cause(ctx))
		}
	}
}

// Kill kills the child, and waits until it has ended.
func (p *Process) Kill() {
	p.killOnce.Do(func() { close(p.quit) })
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

func (p *Process) read(stdout io.Reader) {
	defer close(p.done)
	scanner := bufio.NewScanner(stdout)
	for scanner.Scan() {
		select {
		case p.lines <- scanner.Text():
		case <-p.quit:
		}
	}
	p.err = p.cmd.Wait()
	close(p.lines)
}

func (p *Process) do(ctx context.Context, command string) (value string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("control: %s: %w", command, err)
		}
	}()
	select {
	case <-p.turn:
		defer func() { p.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if p.lost {
		return "", errors.New("an earlier command was given up before its answer")
	}
	if _, err := io.WriteString(p.stdin, command+"\n"); err != nil {
		return "", err
	}
	select {
	case line, ok := <-p.lines:
		if !ok {
			return "", fmt.Errorf("the server has ended: %w", orExit0(p.err))
		}
		word, rest, _ := strings.Cut(line, " ")
		if word != "ok" {
			return "", errors.New(rest)
		}
		return rest, nil
	case <-ctx.Done():
		p.lost = true
		return "", context.Cause(ctx)
	}
}

func number(text string, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("control: the answer is not a number: %w", err)
	}
	return n, nil
}

var errExit0 = errors.New("exit status 0")

func orExit0(err error) error {
	if err == nil {
		return errExit0
	}
	return err
}
