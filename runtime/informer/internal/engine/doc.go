// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter: it applies streams to a table, logs
// the changes, and delivers the log to any number of subscriptions. It is compiled once, over
// object.Object; package informer adds the types and documents the promises.
//
// # Ordering and blocking
//
// An informer reads one stream, or one for each of several namespaces. The changes of a stream are
// applied in its order, in batches; each batch is published as one version and appended to the log
// in one step. A full state (what one list returns: all objects of the stream) is staged beside the
// table until it is complete, and then it is applied as such a batch. So readers of the table never
// see a part of a full state, nor one that failed. Streams have no objects in common, and there is
// no order between them.
//
// The first full state of a stream is not logged, unless the stream was added after the first run
// had begun. Each subscription replays its objects from the version that has them, before it
// delivers anything else. A subscription that is added later replays all objects of the version of
// that moment. A subscription delivers one event at a time: first the replays, then its merged
// backlog, if its handler is slow, then the log. It is synced when the informer is, which is when
// every stream that the first run began with has had a full state, and no replay is left.
//
// Each stream has a reader, the goroutine that reads its source. The reader applies what it reads
// itself, in batches of what has come at once, as long as that can't take long: no index has a
// function of the user's, and no other goroutine is writing to the table while more has come
// already. Otherwise the reader queues its deltas, and a second goroutine of the stream, the
// applier, applies them. The reader waits while 1,024 deltas are queued. Applying waits for another
// stream's batch, for AddIndexes, and for the index functions that it calls. It never waits for a
// reader of the table. After each batch, the goroutine that has applied it waits for handlers that
// lag: as long as they are quick, and once, for 250 ms, for one that is not (pace.go has the rule).
//
// In short, only what depends on something slow is delayed: a slow index function delays all
// changes, a slow server delays the changes of its namespace, and a slow handler delays only
// itself. Events come no faster than quick handlers take them.
//
// # Where to look
//
// These are the files in the order in which an event passes them. Package changelog has the log and
// the merged backlogs.
//
//	config, engine, view       what an informer is made of, and what it offers
//	lease, run, starting       when it runs
//	stream, namespace          one source, and its reader and applier; added and removed
//	prepare, cached, adopt     objects are checked and transformed, or known already
//	record                     what the source brings is counted
//	checkpoint                 a stream's state is read from disk, and written behind
//	sink, apply, stage         what has come at once is applied, a full state when it is complete
//	batch, publish             the table's next version, and its publication
//	index, guard               indexes, and panics of their functions
//	await                      calls that wait for a version or a deletion go on
//	subscription, slot, pool   which handler gets a turn, and on which goroutine
//	deliver, callback, remove  its turn: replays, changes and resyncs
//	pace, watchdog             handlers that lag, and those that don't return
//	status, measure            what can be asked
//	keystatus                  where one key waits
//	unsynced, wait             what is missing before the first sync
//
// # Goroutines
//
// A run consists of these goroutines:
//
//   - its own, which starts the others, reads the first stream, and waits for the others;
//   - a reader for each further stream, which begins when the stream may start (starting.go);
//   - an applier for each stream that has had to queue something; both end when the stream is
//     removed, too;
//   - the handler pool: one for each callback that is running, and at most two that wait for work;
//   - one for the mutation detector, if there is one.
//
// All of them end when the last lease has ended; those of the pool end when their callback returns.
// Acquire and Run start a run. Release and Run wait for its end. When a context ends, a goroutine
// of context.AfterFunc ends the lease. Goroutines of time.AfterFunc note that a resync is due, or
// that it is time to look for callbacks that do not return. They do no more than that.
//
// A handler may call runtime.Goexit: the pool then starts another goroutine in place of the one
// that ends. A function that a reader or an applier calls (a source, a transform, an index
// function, OnError) ends the run if it calls runtime.Goexit.
//
// # Locks
//
// There are four, always taken in this order. None is held while a handler, a transform function,
// OnError or a recorder of metrics runs, or while waiting for a channel:
//
//	Informer.writing   the one transaction. Held for one batch, or to add an index; index
//	                   functions run under it.
//	Informer.mu        publication, the log's end, the set of subscriptions, leases, waiters. Held
//	                   for a few assignments, and for as many as there are subscriptions,
//	                   however many changes are published.
//	Subscription.mu    what the subscription reads, and its merged backlog. Taken for each event
//	                   delivered out of them, and for a bounded number that are merged.
//	pool.mu            the subscriptions' slots: whose turn it is, and what was published for each
//	                   since its last fetch; which workers are parked. Taken once for each
//	                   publication, and once or twice for each turn.
//
// The publisher hands an event that comes alone to all idle subscriptions in one section of
// pool.mu. Each turn then takes pool.mu once, and doesn't need Subscription.mu. In a burst, a turn
// fetches what was logged under pool.mu, and reads it under its subscription's own lock. In short:
// a subscription shares a lock with the publisher for a moment when it becomes busy, and none while
// it is busy.
package engine
