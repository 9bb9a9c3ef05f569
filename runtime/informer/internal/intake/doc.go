// SPDX-License-Identifier: Apache-2.0

// Package intake keeps a table up to date with the streams of an informer. It knows neither
// handlers nor leases: changes go to Config.Publish.
//
// Its files, in the order in which an event passes them:
//
//	intake, namespace       the set of streams
//	stream, startlimit      one stream, and its reader
//	prepare, cached, intern objects are checked and transformed, or known already
//	record                  lists and events are counted
//	disk                    a stream's state is read from disk, and written in the background
//	sink                    the reader's deltas go into the DeltaFIFO
//	loop                    the controller loop takes them out
//	stage, apply            a full state is staged to its end; the table's next version
//	index, guard            indexes, and panics of their functions
//
// # Locks
//
//	Intake.writeMu  the one transaction, and the set of streams. The loop holds it for one
//	                batch, and so do AddIndexes, AddNamespace and RemoveNamespace, which may be
//	                called when no loop runs. Index functions run under it.
//	Intake.mu       the set of streams and the queue, for readers. Held for a moment.
//
// Each stream has a goroutine that reads; only the goroutine that called Loop applies.
package intake
