// SPDX-License-Identifier: Apache-2.0

// Package workqueue has the queue between an informer's handlers and a controller's workers.
//
//	handlers ─ Add ─▶ Queue ─ Get ─▶ worker ─ Item.Done ─▶ Queue
//
// A key names an object, not an event. A key added ten times before a worker gets it is handed out
// once.
//
// # The states of a key
//
// A key is ready, delayed until a time, or running: with a worker. A key added while it runs is
// ready again as soon as it is done. So no two workers have the same key, and no change is missed:
// a worker sees every change whose key was added before it got the key.
//
//	event                           | ready       | delayed              | running
//	--------------------------------+-------------+----------------------+----------------------
//	Add                             | nothing     | ready, no delay      | ready when it is done
//	AddWith, After                  | nothing     | the earlier time     | the earlier time,
//	                                |             |                      |   unless it was added
//	Done, Outcome{}                 |             |                      | gone
//	Done, Outcome{After: d}         |             |                      | delayed by d
//	Done, Outcome{Failed: true}     |             |                      | delayed by the limiter
//	Done, both                      |             |                      | the earlier of the two
//
// # Failures
//
// The queue counts the consecutive failures of each key as long as the key is in the queue. A
// success resets the count, and the queue keeps nothing about keys that are gone. Options.Limiter
// turns the count into a delay.
//
// A failed key added by an event does not wait for its retry. It is ready at once, but not sooner
// than Exponential.Base after its last attempt ended.
//
// When many keys fail at once, Options.RetryRate paces the retries: a key whose delay has ended
// takes a turn before it is handed out. Failures reserve no future turns. So the last of n keys
// waits for at most n turns, and a key with an event meanwhile waits for none.
//
// # Levels
//
// A [Level] is a priority. Adding a key at a higher level raises the key's level, which lasts over
// retries and After until a success.
//
// # Tenants
//
// A queue made by [NewFair] goes round over tenants within each level, so a tenant with many keys
// does not delay the keys of others.
//
// # Reading your own writes
//
// A worker that wrote to the API server can hold its key back with Outcome.Hold until the
// informer's cache has the write; [Queue.Release] ends the hold. Meanwhile the key occupies no
// worker, and the queue remembers its events.
//
// # Keys that go elsewhere
//
// [Queue.Purge] drops keys that another process takes over. A waiting key is gone, and a running
// one does not come back. Purge tells when those that run are done.
//
// # Ordering and blocking
//
// Within a level, and a tenant, keys are handed out in the order they became ready. Delays end in
// the order of their times, and equal times in the order of their adds.
//
// Get waits for a key, and ShutDown for workers, until their contexts end. All other methods wait
// only for the lock, under which the work is at most logarithmic in the number of delays, except
// that Purge and Keys list the keys. Call Done for each item: until then no other worker gets its
// key, and ShutDown waits.
//
// # Goroutines
//
// A queue has none. It calls no function of the program, except NewFair's in Add and AddWith, and
// the one of Purge there. It sets a timer when a worker waits in Get while a key is delayed.
//
// # Cost
//
// A key of two strings takes about 200 bytes besides its text. Memory grows with the number of keys
// in the queue; an empty queue frees it if there were more than 2,048. Adding, getting and
// finishing a key allocates nothing else. A tenant takes about 200 bytes while it has keys in the
// queue.
package workqueue
