// SPDX-License-Identifier: Apache-2.0

// Package deltafifo has the queue between the goroutines that read streams of changes and the one
// that applies them.
//
// # Order and blocking
//
// The readers push the deltas of their streams into a [DeltaFIFO], and one consumer pops them. The
// order in which deltas were pushed is kept, so each stream keeps its own. Nothing is merged or
// dropped.
//
// A full queue blocks the readers until deltas are taken or the queue is closed. An empty one
// blocks Pop. In short: the server is read as fast as its changes are applied, and no faster.
//
// # Goroutines
//
// A DeltaFIFO starts none and calls nothing. Its methods may be called by any goroutine.
package deltafifo
