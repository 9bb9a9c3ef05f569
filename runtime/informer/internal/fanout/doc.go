// SPDX-License-Identifier: Apache-2.0

// Package fanout delivers the changes of one informer to its handlers. Changes are logged once for
// all of them. Each handler has a goroutine while the informer runs, with a cursor into the log: it
// calls the handler with one event at a time. First come the objects of the version that was
// current when the handler was added, then the changes since. For a handler that lags, what waits
// is merged by key; slow.go has the rule.
//
// A [Fanout] doesn't know where changes come from. Its files, in the order in which a change passes
// them:
//
//	handler       what is called, and how each handler is treated
//	fanout        the log and the handlers; publishing
//	slow          handlers that lag
//	subscription  one handler: its position, and what waits for it
//	deliver       its goroutine: initial objects, changes and resyncs; calls and panics
//	remove        the end of a subscription
//	watchdog      callbacks that don't return
//	status        what can be asked; where one key waits
//
// # Locks
//
//	Fanout.mu        the end of the log, the newest version, the set of subscriptions. Held for a
//	                 few assignments for each subscription, however many changes are published.
//	Subscription.mu  the cursor, what is merged, what is running. Held for a few assignments, or
//	                 while 128 changes are merged.
//
// Fanout.mu is taken before Subscription.mu. Neither is held while a handler runs, or while a
// goroutine waits for a channel.
package fanout
