// SPDX-License-Identifier: Apache-2.0

// Package clientgo puts the engine of package informer under client-go: what it makes are
// client-go's own interfaces, for code that is written to them.
//
//	New                  an informer of the runtime as a cache.SharedIndexInformer
//	NewFactory           a generated SharedInformerFactory with such informers
//	Engine.NewInformer   cache.NewSharedIndexInformer, with requests of the runtime's own
//	NewInformer          the same for any cache.ListerWatcher, fakes too, which it reads
//	NewSource            what a cache.ListerWatcher reads, for informers of the runtime
//
// An [Engine] and [NewFactory] find out what client-go's code would list, and read that by a
// source.HTTP: objects are decoded one by one into the store, and share equal parts. NewInformer
// and NewSource get what client-go's client has decoded, as a whole list.
//
// An informer of this package keeps the contracts of client-go's: tombstones are
// cache.DeletedFinalStateUnknown by value with the last known object, isInInitialList is set for
// the objects of the first list and for those that a late handler finds, HasSynced and
// HasSyncedChecker of a handler wait for its initial callbacks, a transform and an error handler
// may be set until the start, indexers may be added at any time, and Run returns after the last
// callback has. It runs once. docs/adapters.md has a table of what differs, and why.
//
// Objects are shared and read-only, as in client-go, and equal parts may be shared between objects.
//
// # Stores without a running informer
//
// Unit tests of controllers give objects to listers by GetStore().Add, without running the
// informer. That works here too, until the informer is run: then Add, Update, Delete and Replace
// return an error, because the store has what the API server has.
//
// # Goroutines
//
// Nothing is started before Run. Besides those of the informer, a run has one goroutine for the
// informer and for each handler until it has synced, and one for each handler that was removed,
// until its running callback has returned. Run waits for all of them. Reads of the indexer wait for
// nothing.
package clientgo
