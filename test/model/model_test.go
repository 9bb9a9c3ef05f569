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
	histories = flag.Int("histories", 10_000, "how many histories TestHistories plays")
	seedFlag  = flag.Uint64("seed", 0, "seed of the first history; the next ones follow; 0 means a random one")
	history   = flag.String("history", "", "play this history, in hexadecimal, and no other")
)

// TestMain silences client-go, whose reports of faults would be many, and which makes pauses to
// report them slowly.
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
		if wrong := inBubble(t, data); len(wrong) > 0 {
			t.Errorf("%s\n%s", strings.Join(wrong, "\n"), describe(data))
		}
		return
	}
	first := *seedFlag
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	// For a panic on a goroutine of an informer, which ends the process before anything else is
	// printed.
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
				if wrong := guarded(t, seed, data); len(wrong) > 0 {
					failed.Store(true)
					report(t, seed, data, wrong)
				}
			}
		})
	}
}

// guarded plays a history and says which one it was if the bubble is deadlocked, which is a panic.
func guarded(t *testing.T, seed uint64, data []byte) []string {
	over := false
	defer func() {
		if !over {
			fmt.Fprintf(os.Stderr, "model: in the history of seed %d:\n%s", seed, describe(data))
		}
	}()
	wrong := inBubble(t, data)
	over = true
	return wrong
}

// inBubble plays a history in a bubble of its own.
func inBubble(t *testing.T, data []byte) (wrong []string) {
	synctest.Test(t, func(*testing.T) { wrong = play(data) })
	return wrong
}

// report says what is wrong, with the shortest history that shows it.
func report(t *testing.T, seed uint64, data []byte, wrong []string) {
	t.Errorf("seed %d:\n%s", seed, strings.Join(wrong, "\n"))
	t.Errorf("to repeat: go test ./test/model -run TestHistories -seed %d -histories 1", seed)
	short, wrong := shrink(t, data, wrong)
	t.Errorf("the shortest history that fails:\n%s\n%s", describe(short), strings.Join(wrong, "\n"))
	t.Errorf("to repeat: go test ./test/model -run TestHistories -history %s", hex.EncodeToString(short))
}

// shrink leaves out steps, half of them at a time at first and one by one at last, as long as the
// rest fails.
func shrink(t *testing.T, data []byte, wrong []string) ([]byte, []string) {
	config, steps := split(data)
	for size := len(steps) / stepBytes / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(steps)/stepBytes; {
			fewer := slices.Delete(slices.Clone(steps), from*stepBytes, (from+size)*stepBytes)
			if w := inBubble(t, slices.Concat(config, fewer)); len(w) > 0 {
				steps, wrong = fewer, w
			} else {
				from += size
			}
		}
	}
	return slices.Concat(config, steps), wrong
}

// FuzzHistory plays the histories that the fuzzer makes.
func FuzzHistory(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomHistory(seed))
	}
	// A silent watch, the question where the server stands, and history that is gone: by a Source,
	// and over HTTP.
	f.Add([]byte("\xfc\x82\x45\xfb\x3e\xb4\x00\xe3\x5c\x44\x1c\xaf\x3c\xc5\x7d\xc1\x3a\x54\xbe"))
	f.Add([]byte("\xcc\x82\x45\xfb\x3e\xb4\x00\xe3\x5c\x44\x1c\xaf\x3c\xc5\x7d\xc1\x3a\x54\xbe"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if wrong := inBubble(t, data); len(wrong) > 0 {
			t.Errorf("%s\n%s", strings.Join(wrong, "\n"), describe(data))
		}
	})
}
