// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the path of an object from a real API server to handlers and listers, and the
// recovery from faults on that path. It has only tests.
//
// The API server is devserver, built once and run as a child process, so every goroutine of the
// test process belongs to the informers or the tests. Most tests share one child and use different
// namespaces; tests compacting, stopping or killing it have their own. A proxy in front of the
// server makes the faults a real one doesn't produce on demand.
//
// Tests with random changes print a seed; with -seed they make the same changes again, though not
// at the same moments.
package e2e
