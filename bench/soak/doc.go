// SPDX-License-Identifier: Apache-2.0

// Soak runs many informers against a real API server for minutes, at a given rate of events, while
// it makes faults, and checks at the end that no informer and no handler has missed anything and
// that nothing is left behind.
//
//	go run ./bench/soak --minutes 3
//	go run ./bench/soak --minutes 0.5 --faults 0 --rate 500
//	go run ./bench/soak --minutes 60 --informers 40 --handlers 200
//
// The first build compiles an API server. The exit code is 1 if a check fails, or if the server
// could not process as many writes as the rate needs.
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
// different namespaces and selectors, each over connections of its own, so one write is an event
// for several informers; with 20 of them it is an event for 7.5 on average, and 2,000 events a
// second are 267 writes a second. (An API server with etcd on two cores can't process 2,000 writes
// a second; --rate 30000 shows how many it can process.) The header of the output says how many
// writes a second are made. Handlers are called more often than that, since most informers have
// several, or less often, since slow handlers have their events merged. The table has all three
// figures. The check at the end counts writes, because informers that read a full state after a
// fault skip events, as they should.
//
// The lag is the time from before the write's request until the first handler of an informer is
// called, by the clock of one machine. So it includes the API server's time for the write. After a
// fault it includes the time that the fault lasted, and the informer's backoff.
//
// # Who is there
//
// Of each five informers, the first reads everything, the second reads the objects labelled gold in
// one namespace, the third reads one namespace by pages instead of by watch-list, and the others
// read one namespace. The first handler of each informer only checks events and measures the lag.
// Of the other handlers, one in five takes 20 ms for each event, which is too slow to keep up. One
// more handler comes and goes all the time, at each informer in turn.
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
// faults come more often here than in production, and with the default backoff the informers would
// mostly wait.
//
// # Checks
//
// Each handler checks each event: add, updates, delete, in this order; the old object is the one of
// the last event; one UID from add to delete; versions only grow, also from a delete to the next
// add. At the end the faults stop, and
//
//   - each informer's store must be equal to what the server lists, and
//   - the last state of each object that each handler got must be equal to it, too, and each
//     handler must have synced;
//   - each index must have all objects of the store;
//   - then all informers are stopped and released, and no goroutine may be left, no informer be
//     reachable, and the heap must be near to where it was at the start;
//   - the writers must have made all writes that were due, at most a hundredth of the time late,
//     and a second, and the time that the server was down for.
//
// No wait takes longer than two minutes: for the server's start, the first sync, a fault, the
// stores and handlers at the end, or the end of an informer. After that the program names what is
// missing, with its status, and the exit code is 1. An interrupt ends the program at once and
// without a verdict.
package main
