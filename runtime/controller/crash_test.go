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

// TestCrashLetsAPanicEndTheProcess runs itself in a child process.
func TestCrashLetsAPanicEndTheProcess(t *testing.T) {
	const child = "TEST_PANIC_IN_RECONCILE"
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestCrashLetsAPanicEndTheProcess$")
		command.Env = append(os.Environ(), child+"=yes")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: on purpose") || strings.Contains(string(out), "Goexit") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	r := newRig(t)
	c := r.new(func(context.Context, object.Key) (controller.Result, error) { panic("on purpose") }, controller.Options{Crash: true})
	c.Enqueue(object.Key{Name: "a"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Log(c.Run(ctx))
}
