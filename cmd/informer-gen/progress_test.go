// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/generator/load"
)

// terminal takes what is written to it.
type terminal struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// take returns what was written since the last call.
func (t *terminal) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text.String()
	t.text.Reset()
	return text
}

// In the bubble time passes only while everybody waits, so each step of the clock is seen as a
// whole.
func TestProgressAppearsAfterASecondAndIsErased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen terminal
		at := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := screen.take(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		p := startProgress(&screen, 60)
		at(999*time.Millisecond, "")
		at(time.Millisecond, eraseLine+"informer-gen: listing packages …")
		at(time.Minute, "") // nothing new
		for done := range 40 {
			p.packages(load.Progress{Done: done, Total: 60, What: "checking packages"})
		}
		at(progressEvery, eraseLine+"informer-gen: checking packages, 39 of 60 …")
		p.set("a text that is much longer than the terminal is wide, so that it is cut")
		at(progressEvery, eraseLine+"informer-gen: a text that is much longer than the terminal ")
		p.stop()
		at(0, eraseLine)
		p.set("more")
		p.stop()
		at(time.Minute, "")
	})
}

func TestProgressOfAShortRunIsNeverSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen terminal
		p := startProgress(&screen, 80)
		p.set("writing")
		time.Sleep(999 * time.Millisecond)
		p.stop()
		time.Sleep(time.Minute)
		if got := screen.take(); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

func TestProgressIsForTerminalsOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if p := newProgress(file); !p.done {
		t.Error("a file is taken for a terminal")
	}
	if p := newProgress(&bytes.Buffer{}); !p.done {
		t.Error("a buffer is taken for a terminal")
	}
}
