// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"testing"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // controllers log what the tests provoke
	devservertest.VerifyTestMain(m)
}
