// SPDX-License-Identifier: Apache-2.0

// Package faulttest has only tests. They show an informer's reaction to faults of the server or the
// network. Each fault is a row of a table (status_test.go, data_test.go, network_test.go,
// list_test.go): the script that causes it, the reasons the informer's status must name meanwhile,
// and the time and the number of requests within which the informer must recover.
//
// After each fault, in each format, the tests check that the store equals the server's state, that
// the events of three handlers (one from the start, one added late, one so slow that its events are
// merged) came in a legal order, that only the store references memory, and that all goroutines
// have ended.
//
// The rows run in bubbles of testing/synctest, in which minutes pass at once. sockets_test.go
// repeats the rows about the network over the loopback interface.
package faulttest
