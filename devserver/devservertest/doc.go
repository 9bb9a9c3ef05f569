// SPDX-License-Identifier: Apache-2.0

// Package devservertest gives a test an API server of its own in one line, where envtest needs
// binaries:
//
//	server := devservertest.New(t, "config/crd/bases")
//	client, err := kubernetes.NewForConfig(server.Config())
//
// The server has the CRDs, Kubernetes' built-in kinds and admission webhooks; the
// documentation of package devserver lists what it serves of them. Servers of several tests run
// side by side, in parallel too.
//
// For one server for all tests of a package, call devserver.Start in TestMain.
package devservertest
