// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--member=") {
		main() // a replica, which a test has started
		return
	}
	devservertest.VerifyTestMain(m)
}

// TestStory takes some fifteen seconds of real time, since its members are processes. It tells both
// forms of the story at a time.
func TestStory(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills and pauses processes, and waits for their leases to end")
	}
	for _, form := range []string{"--controller-runtime=false", "--controller-runtime"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			args := []string{"--shard-lease-duration=2s", "--shard-retry-period=250ms", "--shard-join-delay=500ms", form}
			err := run(t.Context(), args, &out)
			t.Log("\n" + out.String())
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestInterruptedStoryEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lines := 0
	w := writerFunc(func() {
		if lines++; lines == 2 { // the replicas start
			cancel()
		}
	})
	if err := run(ctx, nil, w); !errors.Is(err, context.Canceled) {
		t.Errorf("run returned %v, want %v", err, context.Canceled)
	}
}

// writerFunc is called for each line.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
