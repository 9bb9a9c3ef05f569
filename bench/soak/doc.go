// SPDX-License-Identifier: Apache-2.0

// Soak runs many informers against a real API server for minutes or hours, while it makes faults,
// and checks at the end that no informer and no handler has missed anything and that nothing is
// left behind.
//
//	go run ./bench/soak --minutes 3
//	go run ./bench/soak --minutes 0.5 --faults 0 --rate 100
//	go run ./bench/soak --minutes 60 --informers 40
//
// The first build compiles an API server. The exit code is 1 if a check fails.
//
// The server runs in a child process. The table shows goroutines and heap over time.
//
// # Participants
//
// Writers create, update and delete ConfigMaps, --rate times a second. Of each three informers, the
// first reads all of them, the second those labelled gold in one namespace, the third one namespace
// by pages instead of by watch-list. Each has two handlers; one takes 20 ms for each event, too
// slow to keep up. One more handler comes and goes all the time, at each informer in turn.
//
// # Faults
//
// Every --faults (0: never) one of these: the server ends all watches in good order; etcd is
// compacted; all versions expire, so that watches have to begin with a full state; one informer is
// stopped, and runs again; the server is killed, and started again with the same data.
//
// Informers wait for 0.1 to 2 s after a failure, not for up to 30 s, their default.
//
// # Checks
//
// Each handler checks each event: add, updates, delete, in this order; the old object is the one of
// the last event; one UID from add to delete; versions only grow. At the end the faults stop, and
// each informer's store, and the last state of each object that each handler got, must equal the
// server's list. Then all informers are stopped: no goroutine may be left, no informer be
// reachable, and the heap must be near its size at the start.
//
// No wait takes longer than two minutes. After that the program names the failed check, with the
// state it found. An interrupt ends the program at once and without a verdict.
package main
