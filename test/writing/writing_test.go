// SPDX-License-Identifier: Apache-2.0

// Package writing tests the promises of runtime/writer on a real API server: with other writers,
// stale states, and lost answers.
package writing

import (
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
)

func TestMain(m *testing.M) { devservertest.VerifyTestMain(m) }

// TestWriting runs all tests on one server. It has no controllers, so nothing else writes.
func TestWriting(t *testing.T) {
	crds, err := devserver.ParseCRDs("crd.yaml", []byte(crd))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	server := devservertest.Start(t, devserver.Options{BuiltInKinds: true, CRDs: crds})
	run(t, &rest.Config{Host: server.URL(), Transport: transport})
}
