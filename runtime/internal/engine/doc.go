// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter: it applies a stream to a table, logs the changes, and
// delivers the log to any number of subscriptions. It is compiled once, over object.Object; package informer adds the
// types and documents the promises.
//
// # Locks
//
// There are three, always taken in this order. None is held while a handler's callback runs or while waiting for a channel:
//
//	Informer.writing   the open transaction; held for one batch, or to add an index (index functions run under it)
//	Informer.mu        publication, the log's end, the set of subscriptions; held for a few assignments
//	Subscription.mu    one cursor or backlog; taken for each event delivered
//
// Less formally: the writer shares a lock with each subscription for a moment per batch, and subscriptions share none.
package engine
