// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sharding

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if env := os.Getenv(memberEnv); env != "" {
		os.Exit(memberMain(env))
	}
	os.Exit(run(m))
}

// run runs the tests, and then looks for goroutines that they have left.
func run(m *testing.M) int {
	code := m.Run()
	if code == 0 && !testing.Short() {
		if err := goleak.Find(goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1")); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
	}
	return code
}
