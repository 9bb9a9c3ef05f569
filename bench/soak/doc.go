// SPDX-License-Identifier: Apache-2.0

// Soak runs many informers against a real API server for minutes, at a given rate of events, while
// faults are thrown in, and checks at the end that nobody has missed anything and that nothing is
// left behind.
//
//	go run ./bench/soak --minutes 3
//	go run ./bench/soak --minutes 0.5 --faults 0 --rate 500
//	go run ./bench/soak --minutes 60 --informers 40 --handlers 200
//
// The first build compiles an API server. The exit code is 1 if a check fails, and if the server
// could not take the writes that the rate needs.
//
//	┌──────────────────────────┐            ┌─────────────────────────────────────────────┐
//	│ this process             │            │ child process                               │
//	│   writers ───────────────┼── writes ──┼───────────────────────────────▶ API server  │
//	│   informers, handlers ◀──┼── watches ─┼─── proxy: resets, silence ◀─────┘ + etcd    │
//	└──────────────────────────┘            └─────────────────────────────────────────────┘
//
// The server and the proxy run in a child process, so goroutines and heap are those of the
// informers, of the handlers and of the writers.
//
// # The rate
//
// --rate counts the watch events that all informers together have to read: ADDED, MODIFIED and
// DELETED, not bookmarks, not objects of lists. All informers read the same resource, with
// different namespaces and selectors, each over connections of its own, so one write is an event of
// several informers; with 20 of them it is one of 7.5 on average, and 2,000 events a second are 267
// writes a second. (2,000 writes a second are more than an API server with etcd takes on two cores;
// with --rate 30000 one sees how many it takes.) The header says how many writes it takes. Handlers
// are called more often than that, since most informers have several, or less often, since slow
// handlers have their events merged. The table has all three figures, and the check at the end is
// on writes: informers that read a full state after a fault skip events, which is no fault of
// theirs.
//
// The lag is the time from before the request that writes until the first handler of an informer is
// called, by the clock of one machine; so it includes the API server's time for the write. After a
// fault it includes the time that the fault lasted, and the informer's backoff.
//
// # Who is there
//
// The first of five informers reads everything, the second what is gold in one namespace, the third
// one namespace by pages instead of by watch-list, the others one namespace. The first handler of
// each informer does nothing but check, and measures the lag; of the others, one in five takes 20
// ms for each event, which is too slow to keep up. One more handler comes and goes all the time, at
// each informer in turn.
//
// # Faults
//
// Every --faults (0: never) one of these, in an order that depends on --seed:
//
//   - the server ends all watches in good order,
//   - etcd is compacted,
//   - all versions expire, in etcd and in the watch cache, so that watches have to begin with a
//     full state,
//   - all connections of informers are reset,
//   - all connections of informers are silent for 2 s,
//   - all requests of informers are answered with 429, 500 or 503 for 1 s, after their watches have
//     ended,
//   - one informer is stopped, and runs again,
//   - the server is killed, and started again with the same data.
//
// Informers wait for 0.1 to 2 s after a failure, and not for up to 30 s as they do by default:
// faults come more often here than in life, and without that the informers would mostly wait.
//
// # Checks
//
// Each handler checks each event: add, updates, delete, in this order; the old object is the one
// told last; one UID from add to delete; versions only grow, also from a delete to the next add. At
// the end the faults stop, and
//
//   - each informer's store must be equal to what the server lists, and
//   - what each handler was told last of each object must be, too, and each handler must have
//     synced;
//   - each index must have all objects of the store;
//   - then all informers are stopped and released, and no goroutine may be left, no informer be
//     reachable, and the heap must be near to where it was at the start;
//   - the writers must have made all writes that were due, at most a hundredth of the time late,
//     and a second, and the time that the server was down for.
//
// Nothing is waited for longer than two minutes: not the server's start, the first sync, a fault,
// the stores and handlers at the end, nor the end of an informer. What has not come by then is
// named, with its status, and the exit code is 1. An interrupt ends the program at once and without
// a verdict.
package main
