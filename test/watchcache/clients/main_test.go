// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // broken connections are part of the tests
	log.SetLogger(logr.Discard())
	devservertest.VerifyTestMain(m)
}
