// SPDX-License-Identifier: Apache-2.0

// Package devservertest gives a test an API server of its own in one line, where envtest needs
// binaries:
//
//	server := devservertest.New(t, "config/crd/bases")
//	client, err := kubernetes.NewForConfig(server.Config())
//
// The server has the CRDs, Kubernetes' built-in kinds, admission webhooks and a garbage collector.
// The documentation of package devserver lists the kinds. Servers of several tests run side by
// side, in parallel too.
//
// envtest has no garbage collector. So a test that creates objects of owners that never were, or
// acts as a collector itself, starts its server by [Start], without Options.CollectGarbage.
//
// For one server for all tests of a package, call devserver.Start in TestMain.
package devservertest
