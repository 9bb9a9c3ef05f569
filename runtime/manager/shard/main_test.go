// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"testing"

	"go.uber.org/goleak"
)

var raceDetector bool // the test was compiled with it

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
