// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

// patience is how long tests wait for something that should come soon. A wait takes so long only if
// it never comes.
const patience = 2 * time.Minute

// TestMain asserts that no goroutine is left, once the sleepers that the documentation of package
// devserver names have had their time.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // controllers log what the tests provoke
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
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
