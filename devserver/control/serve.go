// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Server is a server to control; *devserver.Server is one.
type Server interface {
	URL() string
	Compact(ctx context.Context) (resourceVersion int64, err error)
	EndWatches(ctx context.Context) (int, error)
	ExpireWatches(ctx context.Context) error
	Stop(ctx context.Context) error
	Done() <-chan struct{}
	Err() error
}

const commands = "compact, end-watches, expire-watches, quit"

// Serve says ready on out and obeys the lines from in. It returns when the server has stopped:
// because of quit, the end of in or of ctx, or by itself. The error is the server's Err, or an
// error of reading in or writing out. A Read of in that is under way keeps one goroutine until it
// returns.
func Serve(ctx context.Context, server Server, in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintln(out, "ready", server.URL()); err != nil {
		server.Stop(context.WithoutCancel(ctx))
		return fmt.Errorf("control: say ready: %w", err)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan string)
	var readErr error // written before lines is closed
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		readErr = scanner.Err()
	}()

	for {
		select {
		case <-server.Done():
			return server.Err()
		case <-ctx.Done():
			return server.Stop(context.WithoutCancel(ctx))
		case line, ok := <-lines:
			line = strings.TrimSpace(line)
			if !ok || line == "quit" {
				err := server.Stop(context.WithoutCancel(ctx))
				if ok {
					err = firstError(err, reply(out, "", err))
				} else if readErr != nil {
					err = firstError(err, fmt.Errorf("control: read: %w", readErr))
				}
				return err
			}
			value, err := obey(ctx, server, line)
			if err := reply(out, value, err); err != nil {
				return firstError(server.Stop(context.WithoutCancel(ctx)), err)
			}
		}
	}
}

func obey(ctx context.Context, server Server, command string) (value string, err error) {
	switch command {
	case "compact":
		rev, err := server.Compact(ctx)
		return fmt.Sprint(rev), err
	case "end-watches":
		n, err := server.EndWatches(ctx)
		return fmt.Sprint(n), err
	case "expire-watches":
		return "", server.ExpireWatches(ctx)
	default:
		return "", fmt.Errorf("unknown command %q; there are: %s", command, commands)
	}
}

func reply(out io.Writer, value string, err error) error {
	line := strings.TrimSpace("ok " + value)
	if err != nil {
		line = "error " + strings.Join(strings.Fields(err.Error()), " ")
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return fmt.Errorf("control: answer: %w", err)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
