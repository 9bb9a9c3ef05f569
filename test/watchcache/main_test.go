// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"flag"
	"testing"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

func TestMain(m *testing.M) { devservertest.VerifyTestMain(m) }
