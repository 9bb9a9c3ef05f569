// SPDX-License-Identifier: Apache-2.0

// Package store holds the typed objects of one resource, and finds them by key, namespace, label
// selector and index. One owner has write access; all other code gets a [Reader].
//
// # Ordering and blocking
//
// All reads go to a [Snapshot], one immutable state. Taking one is a single atomic load. It shows
// whole batches only, and has one resourceVersion. Readers never wait for a writer, nor a writer
// for readers. Snapshots that one goroutine takes from one Reader never go backwards.
//
// Take a Snapshot, make all reads that must be consistent on it, and drop it. Keeping a Snapshot
// costs the memory of everything that has changed since.
//
// Iteration is in no particular order. A loop may stop at any time, and its body may read and write
// the Store.
//
// # Goroutines
//
// The package starts none.
//
// # Objects are shared
//
// Objects are stored and returned without a copy. Neither the goroutine that stores an object nor
// its readers may change it afterwards.
package store
