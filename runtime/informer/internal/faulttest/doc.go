// SPDX-License-Identifier: Apache-2.0

// Package faulttest has only tests. They show what an informer does when the server, or the network
// in between, does something wrong. Each fault is a row of a table (status_test.go, data_test.go,
// network_test.go, list_test.go). A row has the script that causes the fault, the reasons that the
// informer's status must name meanwhile, the time after which the informer must have recovered, and
// the number of requests that it may make until then.
//
// After each fault, in each format, the tests check four things. The store has what the server has.
// The events of each of three handlers (one from the start, one that was added late, one that is
// slow, so that its events are merged) came in a legal order. No memory is referenced but what the
// store needs. All goroutines have ended.
//
// The rows run in bubbles of testing/synctest, in which minutes pass at once. sockets_test.go
// repeats the rows about the network over the loopback interface.
package faulttest
