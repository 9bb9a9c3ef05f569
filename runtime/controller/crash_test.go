// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestCrashEndsTheProcess: the test runs itself in a child process.
func TestCrashEndsTheProcess(t *testing.T) {
	const child = "TEST_PANIC_IN_RECONCILE"
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestCrashEndsTheProcess$")
		command.Env = append(os.Environ(), child+"=yes")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: on purpose") || strings.Contains(string(out), "Goexit") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	r := newRig(t)
	c := r.new(func(context.Context, object.Key) (result, error) { panic("on purpose") }, controller.Options{Crash: true})
	c.Enqueue(object.Key{Name: "a"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Log(c.Run(ctx))
}

// noText is an error type whose Error method panics for a nil pointer.
type noText struct{ text string }

func (e *noText) Error() string { return e.text }

// TestErrorWhoseTextPanics: such as a nil pointer of an error type.
func TestErrorWhoseTextPanics(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := once(func(context.Context) (result, error) {
			var err *noText
			return result{}, err
		})
		c, _ := r.run(calls, controller.Options{})
		c.Enqueue(key("a"))
		time.Sleep(time.Hour)
		same(t, "reconciles", calls.take(), []string{"a", "a"})
		status := c.Status()
		same(t, "failed", status.Totals.Failed, 1)
		same(t, "last error", status.LastError, "the Error method of a *controller_test.noText has panicked: "+
			"runtime error: invalid memory address or nil pointer dereference")
	})
}
