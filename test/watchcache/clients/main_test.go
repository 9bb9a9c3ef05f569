// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

// patience is how long anything may take. client-go pauses for half a minute after some failures.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // connections break here; that need not be logged
	log.SetLogger(logr.Discard())
	devservertest.VerifyTestMain(m)
}
