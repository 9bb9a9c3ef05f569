// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the whole way of an object, from a real API server to handlers and listers, and what happens to it
// when the way is bad. It has nothing but tests.
//
// The API server is devserver, built once and run as a child process, so that every goroutine of the test process is
// the informers' or the tests' own. Most tests share one child and keep apart by namespaces; those that compact, stop or
// kill it have their own. Faults that a real server doesn't produce on demand come from a proxy before it.
package e2e
