// SPDX-License-Identifier: Apache-2.0

// Package faulttest has no code, only tests: what an informer does when the server, or the network
// in between, does something wrong. Each fault is a row of a table (status_test.go, data_test.go,
// network_test.go, list_test.go) with the script that makes it happen, the reasons that the
// informer's status has to name meanwhile, the time after which all must be well again, and the
// number of requests that may be made until then.
//
// After each fault, in each format: the store has what the server has; the history of each of three
// handlers (one from the start, one that came late, one that is slow and merges) is a legal one;
// nothing but what the store needs is referenced; and all goroutines have ended.
//
// The rows run in bubbles of testing/synctest, so that minutes pass at once; sockets_test.go
// repeats those of the network over the loopback interface.
package faulttest
