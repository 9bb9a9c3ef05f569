// SPDX-License-Identifier: Apache-2.0

// Package model tests informers by random histories. It has only tests.
//
// A history is a sequence of bytes: a few that configure the server and the informers, and three
// for each step. Steps change objects, break connections, let versions expire, refuse requests,
// add, slow down, stall and remove handlers, add indexes, let transforms fail, and stop and restart
// the informers. The driver plays each history to three parties at once, in a testing/synctest
// bubble:
//
//   - a SharedIndexInformer of ours: over a Source, or a factory's, over HTTP and JSON; of all
//     namespaces, or of several with a stream for each; by watch-lists or by lists of pages; with
//     or without a selector and a transform,
//   - client-go's SharedIndexInformer, of the same objects,
//   - for each stream of the two, a naive model of an informer (a map and a list of events), which
//     gets everything delivered by the server's stream.
//
// Seen from one informer:
//
//	         ┌────────┐  list, watch, faults  ┌─────────────────────┐  events  ┌─────────┐
//	steps ──▶│ server ├──┬───────────────────▶│ informer under test ├─────────▶│ checker │
//	         └────────┘  │                    └──────────┬──────────┘          └────┬────┘
//	                     │ all that was handed over      │ store                    │ all events
//	                     └─────────────────────▶ naive model ◀── must be equal ─────┘
//
// Whenever all is quiet, each store must be equal to its models and have their resourceVersions. At
// the end all faults are healed, and server, stores, models, handlers and indexes must agree.
//
// Each handler checks each event. For ours the rule is strict: add, any number of updates, delete,
// and so on; the old object of an update is the one of the previous event; one UID from add to
// delete; increasing resourceVersions; only states that the server has had; objects of the initial
// state first, each once, and none after the registration has synced; one callback at a time, none
// after Remove; each object transformed exactly once. Some handlers are slow, some panic, some ask
// for resyncs, and each has its own threshold for merging. A handler whose events are never merged
// must get exactly the model's events for each key.
//
// For client-go's handlers the rules are the weaker ones of its documentation: an update may change
// the UID, which is no part of an object's identity; it may repeat a resourceVersion, after a
// relist or a repeated event; a deletion may concern an object that the handler never saw, and may
// be a DeletedFinalStateUnknown.
//
// # Running
//
//	go test ./test/model                                      10,000 histories
//	go test ./test/model -histories 100000                    more of them
//	go test ./test/model -run TestHistories -seed 17 -histories 1
//	                                                          one again
//	go test ./test/model -run TestHistories -history 0a1b…    one by its bytes
//	go test ./test/model -run '^$' -fuzz FuzzHistory          let the fuzzer find them
//
// A failure prints its seed, the steps of the shortest history that still fails, and the command
// for repeating it. The bytes determine all steps and their times, but neither the goroutine that
// the scheduler runs first nor the exact length of a backoff, so a rare failure may need -count.
// With -v the test prints how often the histories reached each of the difficult situations; it
// fails if they never reached one of them.
package model
