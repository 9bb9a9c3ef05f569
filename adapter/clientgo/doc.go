// SPDX-License-Identifier: Apache-2.0

// Package clientgo puts client-go's own interfaces on the engine of package informer, for code
// written to them.
//
//	New                  an informer of the runtime as a cache.SharedIndexInformer
//	NewFactory           a generated SharedInformerFactory with such informers
//	Engine.NewInformer   cache.NewSharedIndexInformer, with requests of the runtime's own
//	NewInformer          the same for any cache.ListerWatcher, fakes too, which it reads
//	NewSource            a cache.ListerWatcher as a source for informers of the runtime
//
// An [Engine] and [NewFactory] find out what client-go's code would list, and read that by a
// source.HTTP: objects are decoded one by one into the store, and share equal parts. NewInformer
// and NewSource get whole lists, decoded by client-go's client.
//
// Informers of this package keep client-go's contracts: tombstones are
// cache.DeletedFinalStateUnknown by value with the last known object, isInInitialList is set for
// the objects of the first list and for those a late handler finds, HasSynced and HasSyncedChecker
// of a handler wait for its initial callbacks, a transform and an error handler may be set until
// the start, indexers may be added at any time, and Run returns after the last callback. An
// informer runs once. docs/migrate.md lists the differences, and the reasons.
//
// Objects are shared and read-only, as in client-go.
//
// # Stores without a running informer
//
// Unit tests of controllers give objects to listers by GetStore().Add, without running the
// informer. That works here too. Once the informer runs, Add, Update, Delete and Replace return an
// error, because the store follows the API server.
//
// # Goroutines
//
// Nothing is started before Run. Besides the informer's goroutines, a run has one for the informer
// and for each handler until it has synced, and one for each removed handler until its running
// callback has returned. Run waits for all of them. Reads of the indexer wait for nothing.
package clientgo
