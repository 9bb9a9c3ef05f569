// SPDX-License-Identifier: Apache-2.0

// Package deltafifo has the queue between the goroutine that reads a stream of changes and the one
// that applies them.
//
// # Order and blocking
//
// One goroutine at a time adds to a [DeltaFIFO], usually that of a reflector: a DeltaFIFO
// implements reflector.Sink, and has Sync and PushBatch in addition. A consumer takes from it
// either by PopBatch or by Pop. PopBatch takes the oldest deltas of the stream, unchanged. Pop
// takes one key with all deltas that wait for it: keys come in the order of their oldest delta, the
// deltas of a key in the order of the stream. With Pop, the order of deltas of different keys is
// lost.
//
// A full queue blocks the goroutine that adds to it until deltas are taken or the queue is closed.
// An empty one blocks Pop and PopBatch. In short: the server is read as fast as its changes are
// applied, and no faster.
//
// # Goroutines
//
// A DeltaFIFO starts none, and its methods may be called by any. The goroutine that calls Pop calls
// Known of [Options], with the queue's lock held, and then the function that it has given to Pop,
// without it.
package deltafifo
