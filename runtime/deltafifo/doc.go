// SPDX-License-Identifier: Apache-2.0

// Package deltafifo implements the queue between the goroutines that read streams of changes and
// the one that applies them.
//
// # Order and blocking
//
// Readers push the deltas of their streams into a [DeltaFIFO], and one consumer pops them. The
// queue keeps the order of pushes, so each stream keeps its own. It merges and drops nothing.
//
// A full queue blocks readers until the consumer pops or the queue is closed. An empty one blocks
// Pop.
//
// # Goroutines
//
// A DeltaFIFO starts no goroutine and calls nothing. Its methods may be called by any goroutine.
package deltafifo
