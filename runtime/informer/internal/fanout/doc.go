// SPDX-License-Identifier: Apache-2.0

// Package fanout delivers the changes of one informer to its handlers. Changes are logged once for
// all of them. While the informer runs, each handler has a goroutine with a cursor into the log,
// which calls the handler with one event at a time: first the objects of the version that was
// current when the handler was added, then the changes since. slow.go has the rule for handlers
// that lag.
//
// Its files, in the order in which a change passes them:
//
//	handler       handlers and their configuration
//	fanout        the log and the handlers; publishing
//	slow          handlers that lag
//	subscription  one handler: its position and its backlog
//	deliver       its goroutine: initial objects, changes and resyncs; calls and panics
//	remove        the end of a subscription
//	watchdog      callbacks that don't return
//	status        progress, also of one key
//
// # Locks
//
//	Fanout.mu        the end of the log, the newest version, the set of subscriptions. Held for a
//	                 few assignments for each subscription, however many changes are published.
//	Subscription.mu  the cursor, the backlog, the running callback. Held for a few assignments, or
//	                 while 128 changes are merged.
//
// Fanout.mu is taken before Subscription.mu. Neither is held while a handler runs, or while a
// goroutine waits for a channel.
package fanout
