// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if PlayRole(nil) {
		return
	}
	goleak.VerifyTestMain(m)
}
