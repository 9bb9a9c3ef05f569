// SPDX-License-Identifier: Apache-2.0

// Package informer keeps local copies of API objects and tells handlers what changes.
//
// A SharedIndexInformer is one such copy: of one resource, as one Go type. A Factory holds many, with one client, one
// start and one end; generated factories wrap it. New makes an informer over any Source, without a factory.
//
// # Order
//
// For one key, a handler gets the events in the server's order: OnAdd, any number of OnUpdate, OnDelete, then OnAdd
// again. The old object of an OnUpdate is the new one of the event before. An object with another UID is another object:
// the old one's OnDelete comes before the new one's OnAdd, even if the deletion itself was not seen. An object with the
// same UID and resourceVersion as before is not reported again.
//
// Between keys, a handler that keeps up sees the server's order too, with two exceptions: the initial objects come in
// no particular order, and of the differences that a relist finds, the deletions come first.
//
// A handler keeps up while no more events wait for it than its backlog threshold. Past that, waiting events are merged
// by key: an OnUpdate leads from the state that the handler was told last to the newest one, an object that was added
// and deleted in the meantime is not reported, and keys come in the order of their oldest waiting event. So at most two
// events wait for a key, whatever happens on the server, and only intermediate states are lost. Once the handler has
// caught up, it sees every event again.
//
// The store is ahead of the handlers: it has a change before any handler is told of it, and may have later ones
// too. It moves in steps: a snapshot is at one resourceVersion, and has a list as a whole or not at all.
// There is no order between handlers.
//
// Less formally: apply the events to an empty map, and the map becomes equal to the store.
//
// # Blocking
//
// A callback may take as long as it needs. It delays the next event of its own handler and nothing else: no other
// handler, not the store, not the watch. Adding a handler, before or after the start, neither blocks nor delays anyone,
// and neither does reading. AddIndexers waits until the batch that is being applied is done. Registration.Remove waits
// for the handler's running callback. Run, once its context is done, waits for every running callback; Factory.Shutdown
// does so too, until its own context is done.
//
// If objects arrive faster than they can be stored, the stream is read more slowly: at most 1,024 changes wait.
//
// # Panics
//
// A panic in a handler is logged, with the key and the stack, and the handler goes on with its next event, unless
// WithPanicOnHandlerCrash(true) was given. A callback that calls runtime.Goexit is logged too; its handler goes on in
// either case. Panics of index functions are not recovered.
//
// # Goroutines
//
// Constructors start nothing, and no goroutine is left when Run has returned.
//
//	goroutine        | started by                            | ends when
//	-----------------+---------------------------------------+----------------------------------------------------
//	apply            | the caller of Run, or Factory.Start   | the context of Run is done and all other goroutines
//	                 | (it is Run itself)                    | of this informer have ended
//	reflector        | Run                                   | the context of Run is done; that cancels an HTTP
//	                 |                                       | request in flight
//	one per handler  | Run, or AddEventHandler while it runs | the context of Run is done, or Remove was called; a
//	                 |                                       | running callback returns first
//
// Each handler is called by its own goroutine and the Source by reflector. Index functions are called by apply, by
// callers of AddIndexers, and by lookups in a snapshot that lacks the index.
package informer
