// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

var (
	histories = flag.Int("histories", 10_000, "number of histories played by TestHistories")
	seedFlag  = flag.Uint64("seed", 0, "seed of the first history; the next ones follow; 0 means a random one")
	history   = flag.String("history", "", "play this history, in hexadecimal, and no other")
)

// TestMain silences client-go. It would report many faults, and pause to report them slowly.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

// TestHistories plays random histories.
func TestHistories(t *testing.T) {
	if *history != "" {
		data, err := hex.DecodeString(*history)
		if err != nil {
			t.Fatalf("-history: %v", err)
		}
		if problems := inBubble(t, data); len(problems) > 0 {
			t.Errorf("%s\n%s", strings.Join(problems, "\n"), describe(data))
		}
		return
	}
	first := *seedFlag
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	// A panic on a goroutine of an informer ends the process before it prints anything else.
	fmt.Fprintf(os.Stderr, "model: seeds from %d; to repeat: go test ./test/model -run TestHistories -seed %[1]d -histories %d\n", first, *histories)
	const enoughForAll = 1000
	var next atomic.Int64
	var failed atomic.Bool
	t.Cleanup(func() {
		if !t.Failed() && *histories >= enoughForAll {
			reachedAll(t)
		}
	})
	for range runtime.GOMAXPROCS(0) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for !failed.Load() {
				n := next.Add(1) - 1
				if n >= int64(*histories) {
					return
				}
				seed := first + uint64(n)
				data := randomHistory(seed)
				if problems := playGuarded(t, seed, data); len(problems) > 0 {
					failed.Store(true)
					report(t, seed, data, problems)
				}
			}
		})
	}
}

// playGuarded plays a history. If it panics, because the bubble is deadlocked, it prints the
// history.
func playGuarded(t *testing.T, seed uint64, data []byte) []string {
	over := false
	defer func() {
		if !over {
			fmt.Fprintf(os.Stderr, "model: in the history of seed %d:\n%s", seed, describe(data))
		}
	}()
	problems := inBubble(t, data)
	over = true
	return problems
}

// inBubble plays a history in a bubble of its own.
func inBubble(t *testing.T, data []byte) (problems []string) {
	synctest.Test(t, func(*testing.T) { problems = play(data) })
	return problems
}

// report reports the problems, and the shortest history with such problems.
func report(t *testing.T, seed uint64, data []byte, problems []string) {
	t.Errorf("seed %d:\n%s", seed, strings.Join(problems, "\n"))
	t.Errorf("to repeat: go test ./test/model -run TestHistories -seed %d -histories 1", seed)
	short, problems := shrink(t, data, problems)
	t.Errorf("the shortest history that fails:\n%s\n%s", describe(short), strings.Join(problems, "\n"))
	t.Errorf("to repeat: go test ./test/model -run TestHistories -history %s", hex.EncodeToString(short))
}

// shrink removes steps while the history still fails: at first half of them at a time, at last one
// by one.
func shrink(t *testing.T, data []byte, problems []string) ([]byte, []string) {
	config, steps := split(data)
	for size := len(steps) / stepBytes / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(steps)/stepBytes; {
			fewer := slices.Delete(slices.Clone(steps), from*stepBytes, (from+size)*stepBytes)
			if w := inBubble(t, slices.Concat(config, fewer)); len(w) > 0 {
				steps, problems = fewer, w
			} else {
				from += size
			}
		}
	}
	return slices.Concat(config, steps), problems
}

// FuzzHistory plays the histories of the fuzzer.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomHistory(seed))
	}
	// A silent watch, a list for the server's version, and an expired version: by a Source, and
	// over HTTP.
	f.Add([]byte("\xfc\x82\x45\xfb\x3e\xb4\x00\xe3\x5c\x44\x1c\xaf\x3c\xc5\x7d\xc1\x3a\x54\xbe"))
	f.Add([]byte("\xcc\x82\x45\xfb\x3e\xb4\x00\xe3\x5c\x44\x1c\xaf\x3c\xc5\x7d\xc1\x3a\x54\xbe"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if problems := inBubble(t, data); len(problems) > 0 {
			t.Errorf("%s\n%s", strings.Join(problems, "\n"), describe(data))
		}
	})
}
