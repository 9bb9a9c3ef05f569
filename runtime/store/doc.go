// SPDX-License-Identifier: Apache-2.0

// Package store holds the objects of one resource, typed, and finds them by key, namespace, label
// selector and index. Write access has one owner; everyone else gets a Reader.
//
// # Ordering and blocking
//
// All reads go to a Snapshot, which is one immutable state. Taking one is a single atomic load. It
// never changes, whatever the writer does; it shows whole batches only, and stands at one
// resourceVersion. Readers never wait for a writer, nor a writer for readers. Snapshots that one
// goroutine takes from one Reader never go backwards.
//
// Less formally: take a Snapshot, ask it everything that must be consistent, and drop it. A
// Snapshot that is kept for long costs the memory of what has changed since.
//
// Iteration is in no particular order. A loop may stop at any time, and its body may read and write
// the Store.
//
// # Goroutines
//
// The package starts none. Index functions are called by the goroutine that writes, and by lookups
// in a Snapshot that lacks the index.
//
// # Objects are shared
//
// Objects are stored and returned without a copy. Neither the goroutine that stores one nor those
// that get it may change it afterwards.
package store
