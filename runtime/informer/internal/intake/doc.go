// SPDX-License-Identifier: Apache-2.0

// Package intake keeps a table up to date with the streams of an informer. It knows neither
// handlers nor leases: what it has changed goes to Config.Publish.
//
// Its files, in the order in which an event passes them:
//
//	intake, namespace       the set of streams
//	stream, starting        one stream, and its reader
//	prepare, cached, adopt  objects are checked and transformed, or known already
//	record                  what the source brings is counted
//	disk                    a stream's state is read from disk, and written behind
//	sink                    what the reader has read goes into the DeltaFIFO
//	loop                    the controller loop takes it out
//	stage, apply            a full state is staged to its end; the table's next version
//	index, guard            indexes, and panics of their functions
//
// # Locks
//
//	Intake.writing  the one transaction, and the set of streams. The loop holds it for one
//	                batch, and so do AddIndexes, AddNamespace and RemoveNamespace, which may be
//	                called when no loop runs. Index functions run under it.
//	Intake.mu       the set of streams and the queue, for those who only look. Held for a
//	                moment.
//
// # Goroutines
//
// Each stream has a goroutine that reads, and only the goroutine that has called Loop applies. A
// stream's own fields say which of the two uses them.
package intake
