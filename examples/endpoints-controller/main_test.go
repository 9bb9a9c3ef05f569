// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestRunShowsAllSteps(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log("\n" + out.String())
	rest := out.String()
	for _, step := range []string{
		"no addresses", "not ready 10.0.0.3", "10.0.0.1 10.0.0.2 10.0.0.3, http 8080", "10.0.0.2 10.0.0.3", "10.0.0.1 10.0.0.2 10.0.0.3",
		"10.0.0.1 10.0.0.3", "10.0.0.1 10.0.0.3", "52 addresses", "none",
	} {
		_, after, found := strings.Cut(rest, step)
		if !found {
			t.Fatalf("the output lacks %q, or has it in another order:\n%s", step, out.String())
		}
		rest = after
	}
}

func TestInterruptedRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := run(ctx, writerFunc(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("run returned %v, want %v", err, context.Canceled)
	}
}

// writerFunc is called for each line.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
