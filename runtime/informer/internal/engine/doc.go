// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter. Package intake keeps the table up to
// date with the streams, package fanout delivers the changes to handlers; the engine joins them,
// and has leases, runs and waits. It is compiled once, over object.Object; package informer adds
// the types and documents the promises.
//
// # Ordering and blocking
//
// An informer reads one stream, or one for each of several namespaces. Each stream has a goroutine
// that reads and decodes, and pushes what it reads into the informer's DeltaFIFO. One goroutine,
// the controller loop, takes the deltas out, and applies them in batches; each batch is published
// as one version and appended to the log in one step. A full state (what one list returns: all
// objects of the stream) is staged beside the table until it is complete, and then it is applied as
// such a batch. So readers of the table never see a part of a full state, nor one that failed.
// Streams have no objects in common, and there is no order between them.
//
// The first full state of a stream is not logged, unless the stream was added after the first run
// had begun. Each subscription replays its objects from the version that has them, before it
// delivers anything else. A subscription that is added later replays all objects of the version of
// that moment. A subscription delivers one event at a time: first the replays, then its merged
// backlog, if its handler is slow, then the log. It is synced when the informer is, which is when
// every stream that the first run began with has had a full state, and no replay is left.
//
// A reader waits while 1,024 deltas are queued. The loop waits for AddIndexes, for the index
// functions that it calls, and, after each batch, for handlers that lag: as long as they are quick,
// and once, for 250 ms, for one that is not (fanout/slow.go has the rule). It never waits for a
// reader of the table. In short, only what depends on something slow is delayed: a slow index
// function delays all changes, a slow server delays the changes of its namespace, and a slow
// handler delays only itself. Events come no faster than quick handlers take them.
//
// # Goroutines
//
// A run consists of these goroutines:
//
//   - its own, which starts the others and is the controller loop;
//   - a reader for each stream, which begins when the stream may start;
//   - one for each handler, and one that looks for callbacks that do not return;
//   - one that writes checkpoints, and one for the mutation detector, if there are any.
//
// All of them end when the last lease has ended. A reader ends when its stream is removed, too, and
// the goroutine of a handler when the handler is. Acquire and Run start a run. Release and Run wait
// for its end. When a context ends, a goroutine of context.AfterFunc ends the lease. A goroutine of
// time.AfterFunc notes that a resync is due; it does no more than that.
//
// A handler may call runtime.Goexit: then another goroutine takes the place of the one that ends. A
// function that a reader or the loop calls (a source, a transform, an index function, OnError) ends
// the run if it calls runtime.Goexit.
//
// # Locks
//
// They are taken in this order. None is held while a handler, a transform function, OnError or a
// recorder of metrics runs, or while waiting for a channel:
//
//	Intake.writing   the one transaction. Held for one batch, or to add an index or a namespace;
//	                 index functions run under it.
//	Informer.mu      publication, leases, those who wait. Held for a few assignments, however many
//	                 changes are published.
//	Intake.mu, Fanout.mu, Subscription.mu
//	                 see the packages.
package engine
