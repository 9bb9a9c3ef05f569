// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/informer-gen/informer-gen/devserver/control"
)

// TestMain lets the test binary be the child process that an environment variable asks for.
func TestMain(m *testing.M) {
	switch os.Getenv(childDoes) {
	case "serve":
		if err := control.Serve(context.Background(), newFake(), os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(3)
		}
		return
	case "hang":
		io.Copy(io.Discard, os.Stdin)
		select {}
	case "babble":
		os.Stdout.WriteString("hello\n")
		io.Copy(io.Discard, os.Stdin)
		return
	case "fail":
		os.Exit(4)
	}
	goleak.VerifyTestMain(m)
}

const childDoes = "CONTROL_TEST_CHILD_DOES"

func child(t *testing.T, does string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childDoes+"="+does)
	return cmd
}

// fake is a Server without a server.
type fake struct {
	stopOnce sync.Once
	done     chan struct{}
}

func newFake() *fake { return &fake{done: make(chan struct{})} }

func (f *fake) URL() string                             { return "http://fake" }
func (f *fake) Compact(context.Context) (int64, error)  { return 42, nil }
func (f *fake) EndWatches(context.Context) (int, error) { return 7, nil }
func (f *fake) ExpireWatches(context.Context) error     { return errors.New("two\nlines") }
func (f *fake) Done() <-chan struct{}                   { return f.done }
func (f *fake) Err() error                              { return nil }
func (f *fake) Stop(context.Context) error {
	f.stopOnce.Do(func() { close(f.done) })
	return nil
}

func TestServeAnswersEachLine(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader("compact\nend-watches\n expire-watches \nfoo\n\nquit\ncompact\n")
	if err := control.Serve(t.Context(), newFake(), in, &out); err != nil {
		t.Fatal(err)
	}
	const unknown = "; there are: compact, end-watches, expire-watches, quit\n"
	want := "ready http://fake\nok 42\nok 7\nerror two lines\n" +
		`error unknown command "foo"` + unknown + `error unknown command ""` + unknown + "ok\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestServeEnds(t *testing.T) {
	for name, end := range map[string]func(*fake, *io.PipeWriter, context.CancelFunc){
		"with its input":   func(_ *fake, in *io.PipeWriter, _ context.CancelFunc) { in.Close() },
		"with the server":  func(f *fake, _ *io.PipeWriter, _ context.CancelFunc) { f.Stop(context.Background()) },
		"with its context": func(_ *fake, _ *io.PipeWriter, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f, out := newFake(), new(bytes.Buffer)
			in, write := io.Pipe()
			defer in.Close()
			ended := make(chan error)
			go func() { ended <- control.Serve(ctx, f, in, out) }()
			end(f, write, cancel)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			<-f.Done()
		})
	}
}

func TestProcessSendsCommandsToItsChild(t *testing.T) {
	p, err := control.Start(t.Context(), child(t, "serve"))
	if err != nil {
		t.Fatal(err)
	}
	if p.URL() != "http://fake" {
		t.Errorf("URL is %q", p.URL())
	}
	if rev, err := p.Compact(t.Context()); rev != 42 || err != nil {
		t.Errorf("Compact returns %d, %v", rev, err)
	}
	if n, err := p.EndWatches(t.Context()); n != 7 || err != nil {
		t.Errorf("EndWatches returns %d, %v", n, err)
	}
	if err := p.ExpireWatches(t.Context()); err == nil || err.Error() != "control: expire-watches: two lines" {
		t.Errorf("ExpireWatches returns %v", err)
	}
	for range 2 {
		if err := p.Quit(t.Context()); err != nil {
			t.Errorf("Quit returns %v", err)
		}
	}
	if _, err := p.Compact(t.Context()); err == nil {
		t.Error("Compact after Quit returns no error")
	}
	p.Kill()
}

func TestStartErrors(t *testing.T) {
	for does, want := range map[string]string{
		"babble": `it said "hello" where ready was due`,
		"fail":   "it ended before it was ready: exit status 4",
	} {
		if _, err := control.Start(t.Context(), child(t, does)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", does, err, want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no more time")
	cancel(reason)
	if _, err := control.Start(ctx, child(t, "hang")); !errors.Is(err, reason) {
		t.Errorf("hang: got %v, want %v", err, reason)
	}
	if _, err := control.Start(t.Context(), exec.Command("/does/not/exist")); err == nil {
		t.Error("a command that isn't there returns no error")
	}
}
