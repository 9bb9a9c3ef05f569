// SPDX-License-Identifier: Apache-2.0

// Package engine is the informer without its type parameter: it applies a stream to a table, logs what changes, and
// delivers the log to any number of subscriptions. It is compiled once, over object.Object; package informer gives it
// back its types, and documents what it promises.
//
// # Locks
//
// Three, always taken in this order, none held while a callback runs or something is waited for:
//
//	Informer.writing   the open transaction; held for one batch, or to add an index
//	Informer.mu        publication, the log's end, the set of subscriptions; held for a few pointers' time
//	Subscription.mu    one cursor or backlog; taken for each event delivered
//
// Less formally: the one goroutine that writes meets each reader for a moment per batch, and readers never meet.
package engine
