// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"
)

var raceDetector bool // the test was compiled with it

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // of client-go's elector
	goleak.VerifyTestMain(m)
}
