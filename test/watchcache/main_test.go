// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// TestMain asserts that no goroutine is left, once the sleepers of the API server have had their
// time, which package devserver names.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for deadline := time.Now().Add(patience); err != nil && code == 0 && time.Now().Before(deadline); {
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
