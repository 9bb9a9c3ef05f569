// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter: it applies streams to a table, logs
// the changes, and delivers the log to any number of subscriptions. It is compiled once, over
// object.Object; package informer adds the types and documents the promises.
//
// # Ordering and blocking
//
// An informer reads one stream, or one for each of several namespaces. The changes of a stream are
// applied in its order, in batches; each batch is published as one version and appended to the log
// in one step. A full state is staged beside the table until it is complete and is then such a
// batch, so neither its length nor its failure is seen by anybody. Streams have no objects in
// common, and there is no order between them.
//
// The first full state of a stream is not logged: each subscription replays its objects from the
// version that has them, before anything else. So does a subscription that is added later, with all
// objects. A subscription delivers one event at a time, replays first, then its merged backlog, if
// its handler is slow, then the log. It is synced when every stream has had its first full state
// and nothing is left to replay.
//
// The goroutine that reads a stream applies it too, in batches of what has come at once, as long as
// that can't take long: no index has a function of the user's, and nobody else is writing.
// Otherwise what it reads is queued, and another goroutine applies it; the reader waits while 1,024
// deltas are queued. Applying waits for another stream's batch, for AddIndexes, and for index
// functions, which run while it is going on; never for a reader of the table. Between two batches,
// what applies waits for handlers that lag: as long as they are quick, and once, for 250 ms, for
// one that is not (pace.go has the rule).
//
// Less formally: what is slow delays what depends on it, and nothing else. A slow index function
// delays all changes, a slow server its namespace, a slow handler itself. Events come no faster
// than quick handlers take them.
//
// # Goroutines
//
// A run has its own goroutine, which starts the others, reads the first stream, and waits for the
// others; each further stream has one that reads, when it is the stream's turn to start (turns.go);
// each stream that has had to queue something has one that applies; a pool calls the handlers, with
// one goroutine for each callback that is running, and at most two that wait; the detector of
// mutations, if there is one, has one. All of them end when the last lease has ended, those of the
// pool when their callback returns. Acquire and Run start a run, and Release and Run wait for its
// end. A context that ends a lease does so on a goroutine of context.AfterFunc; resyncs, and looks
// for callbacks that do not return, are due on one of time.AfterFunc. They do no more than that.
//
// A handler may call runtime.Goexit: another goroutine takes the place of the one that this ends. A
// function that a goroutine of a stream calls (a source, a transform, an index function, OnError)
// ends the run if it does so.
//
// # Locks
//
// There are four, always taken in this order. None is held while a handler, a transform function,
// OnError or a recorder of metrics runs, or while waiting for a channel:
//
//	Informer.writing   the one transaction; held for one batch, or to add an index (index functions run under it)
//	Informer.mu        publication, the log's end, the set of subscriptions, leases, waiters; held for a few assignments,
//	                   and for as many as there are subscriptions, however many changes are published
//	Subscription.mu    what the subscription reads, and its merged backlog; taken for each event delivered out of them, and
//	                   for a bounded number that are merged
//	pool.mu            the subscriptions' slots: whose turn it is, and what was published for each since it has looked; which
//	                   goroutines wait. Taken once when something is published, and once or twice for each turn
//
// An event that comes alone is handed to all subscriptions that have nothing to do under one
// pool.mu, and each turn takes it once: Subscription.mu isn't needed. In bursts, a turn takes what
// was logged under pool.mu, and reads it under its subscription's own lock. Less formally:
// subscriptions share a lock with the writer for a moment when they have something to do after a
// pause, and none while they are busy.
package engine
