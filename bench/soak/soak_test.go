// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the child that the soak starts.
func TestMain(m *testing.M) {
	if isChild() {
		if err := serve(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A short soak, gentle enough for a busy machine, with one fault after the other.
func TestSoakEndsWithAVerdict(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"--minutes", "0.1", "--rate", "200", "--informers", "10", "--handlers", "20", "--faults", "600ms"}, &out, io.Discard)
	t.Log(out.String())
	// how many writes a machine takes is its own affair
	if err != nil && !errors.Is(err, errTooSlow) {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "nothing is left behind") {
		t.Error("no verdict")
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, args := range []string{"--minutes 0", "--rate -1", "--informers 0", "--handlers 3", "--faults -1s", "now"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

func TestPercentilesAreNearlyExact(t *testing.T) {
	var h histogram
	for n := range 1000 {
		h.add(time.Duration(n+1) * time.Millisecond)
	}
	l := h.take()
	for p, want := range map[float64]time.Duration{50: 500 * time.Millisecond, 99: 990 * time.Millisecond, 100: time.Second} {
		if got := l.percentile(p); got < want || float64(got) > 1.06*float64(want) {
			t.Errorf("p%v is %v, want %v or up to 5 %% more", p, got, want)
		}
	}
	if l.longest != time.Second || l.total != 1000 {
		t.Errorf("longest %v of %d", l.longest, l.total)
	}
	if l := h.take(); l.total != 0 || l.percentile(99) != 0 {
		t.Errorf("%d are left after take", l.total)
	}
}
