// SPDX-License-Identifier: Apache-2.0

// Package workqueue has the queue between an informer's handlers and the workers of a controller.
// Handlers add keys; workers get them, work, and report the outcome.
//
//	handlers ─ Add ─▶ Queue ─ Get ─▶ worker ─ Item.Done ─▶ Queue
//
// A key names an object to look at, not an event. So a key that is added ten times
// before a worker gets it is handed out once. [Queue] is typed by its key, which is an object.Key
// in most programs and may be any comparable type.
//
// # The states of a key
//
// A key is ready, or delayed until a time, or running, which means that a worker has it. One that
// is added while it runs is ready again as soon as it is done. So no two workers have one key, and
// no change is missed: a worker sees every change whose key was added before it got the key.
//
//	what happens                    | ready       | delayed              | running
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
// The queue counts how often a key has failed in a row, as long as the key is in the queue. A
// success resets the count, and the queue keeps nothing of keys that are gone. Options.Limiter says
// how long the key waits by that number.
//
// A failed key that is added, because of an event, does not wait for its retry. It is ready at
// once, but not sooner than Exponential.Base after its last attempt has ended, so that a key with
// frequent events and an error is no hot loop.
//
// When many keys fail at once, Options.RetryRate paces the retries: a key whose delay has ended
// takes a turn when it would be handed out. No failure reserves a turn in the future. So the last
// of n keys waits for n turns at most, and a key that had an event meanwhile waits for none.
//
// # Levels
//
// A [Level] is a priority. A higher one goes first, and none starves: of any 16 hand-outs in a row,
// each level that has keys ready gets one. A key's level is raised if the key is added at a higher
// one. It stays the same over retries and After, until a success.
//
// # Reading what was written
//
// A worker that has written to the API server can hold its key back (Outcome.Hold) until the
// informer's cache has what it wrote; [Queue.Release] ends that. Meanwhile the key occupies no
// worker, and the queue remembers events for it.
//
// # Ordering and blocking
//
// Within a level, keys are handed out in the order in which they became ready. Delays end in the
// order of their times, those of one time in the order in which they were added. Adds of several
// goroutines are ordered by the queue's lock.
//
// Get waits for a key, and ShutDown for workers, both until their context ends. No other method
// waits for more than the lock. What is done under it takes time that grows with the logarithm of
// the number of delays at most.
// Done must be called for each item; until then its key is handed out to no other worker, and
// ShutDown waits.
//
// # Goroutines
//
// A queue has none, and calls no function of the program. It sets a timer when a worker waits in
// Get while a key is delayed. One worker is woken at a time; it wakes the next one if there is more
// to do.
//
// # Cost
//
// A key takes about 200 bytes besides its text, for keys of two strings. Memory grows with the keys
// that are in the queue at once. Beyond 2,048 keys it is given back when the queue is empty.
// Adding, getting and ending a key allocates nothing but that.
package workqueue
