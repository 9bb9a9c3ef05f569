// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// patience is how long tests wait for something that should come soon. A wait takes so long only if
// it never comes.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // controllers log what the tests provoke
	devservertest.VerifyTestMain(m)
}
