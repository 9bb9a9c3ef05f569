// SPDX-License-Identifier: Apache-2.0

// Package devservertest gives a test its own API server in one line, where envtest needs binaries:
//
//	server := devservertest.New(t, "config/crd/bases")
//	client, err := kubernetes.NewForConfig(server.Config())
//
// The server has the CRDs, Kubernetes' built-in kinds, admission webhooks and a garbage collector.
// Servers of several tests run side by side, in parallel too. [InstallWebhooks] installs the
// webhooks of config/webhook, for the test to serve. [ServiceAccount] gives the program under test
// the rights of config/rbac, and no others.
//
// envtest has no garbage collector. A test that creates objects with owners that never existed, or
// plays the collector itself, calls [Start] without Options.CollectGarbage.
//
// Package testkit/rbactest of the root module compares a program's requests with its RBAC role.
//
// For one server for all tests of a package, call devserver.Start in TestMain.
package devservertest
