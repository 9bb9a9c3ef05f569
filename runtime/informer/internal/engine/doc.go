// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter, compiled once over object.Object. It
// joins package intake, which keeps the table up to date with the streams, and package fanout,
// which delivers the changes to handlers, and has leases, runs and waits. Package informer
// documents the promises.
//
// # Ordering and blocking
//
// An informer reads one stream, or one for each of several namespaces. A stream's reader, a
// goroutine, pushes deltas into the DeltaFIFO. The controller loop takes them out and applies them
// in batches; each batch is published as one version and appended to the log in one step. A full
// state (all objects of a stream, from one list) is staged beside the table until it is complete,
// and then applied as such a batch. So readers of the table never see a part of a full state, nor a
// failed one. Streams have no objects in common, and there is no order between them. The namespaces
// may be the objects of another informer (Config.Namespaces): then a goroutine of the run adds and
// removes streams.
//
// The first full state of a stream is not logged, unless the stream was added after the first run
// had begun. Instead each subscription replays its objects from the published version, before it
// delivers anything else. A subscription added later replays all objects of the version of that
// moment. Then come its merged backlog, if its handler is slow, and the log. It is synced when the
// informer is (every stream that the first run began with has had a full state) and no replay is
// left.
//
// The loop waits for AddIndexes, for index functions and, after each batch, for handlers that lag
// (fanout/slow.go has the rule). It never waits for a reader of the table.
//
// # Goroutines
//
// Package informer lists the goroutines of a run. The run's own starts the others and is the
// controller loop. When a context ends, a goroutine of context.AfterFunc ends the lease. A
// goroutine of time.AfterFunc only notes that a resync is due.
//
// If a handler calls runtime.Goexit, another goroutine replaces the one that ends. If a function
// called by a reader or the loop (a source, a transform, an index function, OnError) does, the run
// ends.
//
// # Locks
//
// They are taken in this order. None is held while a handler, a transform function, OnError or a
// recorder of metrics runs, or while waiting for a channel:
//
//	Intake.writeMu   the one transaction. Held for one batch, or to add an index or a namespace;
//	                 index functions run under it.
//	Informer.mu      publication, leases, waiters. Held for a few assignments, however many
//	                 changes are published.
//	Intake.mu, Fanout.mu, Subscription.mu
//	                 see the packages.
package engine
