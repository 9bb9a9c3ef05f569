// SPDX-License-Identifier: Apache-2.0

// Package store holds the objects of one resource, typed, and answers by key, by namespace, by label selector and by
// index. Write access has one owner; the world gets a Reader.
//
// # Ordering and blocking
//
// Everything is read from a Snapshot, which is one immutable state: taking one is one atomic load, it is never changed
// afterwards whatever the writer does, it shows whole batches only, and it stands at one resourceVersion. No read waits
// for a writer and no writer for a read. Two Snapshots of one Reader, taken one after the other by one goroutine, never
// go backwards.
//
// Less formally: take a Snapshot, ask it everything that must fit together, and drop it. A Snapshot that is kept for
// long costs the memory of what has changed since.
//
// Iteration is in no particular order. A loop may be left at any time, and may itself read, or even write the Store.
//
// # Objects are shared
//
// Objects go in and come out as they are, without a copy. Who has put one in, or got one out, must not change it.
package store
