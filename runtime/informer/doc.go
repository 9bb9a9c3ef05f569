// SPDX-License-Identifier: Apache-2.0

// Package informer keeps local copies of API objects and tells handlers what changes.
//
// A SharedIndexInformer is one such copy: of one resource, as one Go type. A Factory holds many, with one client, one
// start and one end; generated factories wrap it. New makes an informer over any Source, without a factory.
//
// # Order
//
// What a handler is told of one key is what the server has said of it, in the server's order: OnAdd, any number of
// OnUpdate, OnDelete, and from the start again. The old object of an OnUpdate is the new one of the event before. An
// object of another UID is another object: the old one's OnDelete comes before the new one's OnAdd, however the change
// was found out. What has the same UID and resourceVersion as before is not told again.
//
// Between keys, a handler that keeps up sees the server's order too, with these exceptions: initial objects come in no
// order, and of what was found out by listing again, the deletions come first.
//
// A handler keeps up while no more events wait for it than its backlog threshold. Past that, what waits is merged by
// key: an OnUpdate leads from what the handler was told last to what is now, an object that came and went is not
// mentioned, and keys come in the order of their first event that waits. So no more than two events wait for a key,
// whatever happens on the server, and nothing is lost but states in between. Once the handler has caught up, it
// sees every event again.
//
// The store is ahead of the handlers: it has a change before the first handler is told of it, and may have later ones
// too. It moves in steps: a snapshot is at one resourceVersion, and a list is in it as a whole or not at all.
// There is no order between handlers.
//
// Less formally: replay what you are told onto an empty map, and you have the store, sooner or later.
//
// # Blocking
//
// A callback may take as long as it likes; its own handler waits for it, and nobody else: not other handlers, not the
// store, not the watch. Adding a handler, late or not, waits for nobody and delays nobody; neither does reading.
// Registration.Remove waits for the callback that runs, and Run, after its context is done, for all that run;
// Factory.Shutdown waits for them until its own context is done.
//
// If objects arrive faster than they can be stored, the stream is read more slowly: 1,024 changes may wait.
//
// # Panics
//
// A panic in a handler is logged, with the key and the stack, and the handler goes on with its next event, unless
// WithPanicOnHandlerCrash says otherwise. A callback that calls runtime.Goexit is logged too, and its handler goes on in any
// case. Panics of index functions are not recovered.
//
// # Goroutines
//
// Nothing runs before Run or Factory.Start, and nothing is left when Run has returned.
//
//	goroutine        | started by                            | ends when
//	-----------------+---------------------------------------+----------------------------------------------------
//	apply            | the caller of Run, or Factory.Start   | the context of Run is done, or the reflector failed;
//	                 | (it is Run)                           | after all others of this informer
//	reflector        | Run                                   | the context of Run is done
//	one per handler  | Run, or AddEventHandler while it runs | the context of Run is done, or Remove; after the
//	                 |                                       | callback that it is in
//
// Handlers are called by their own goroutine, index functions by apply (and by whoever calls AddIndexers, or looks up
// an index in a snapshot that lacks it), the Source by reflector.
package informer
