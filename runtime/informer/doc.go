// SPDX-License-Identifier: Apache-2.0

// Package informer keeps local copies of API objects and tells handlers what changes.
//
// A SharedIndexInformer is one such copy: of one resource, as one Go type. A Factory holds many,
// with one client, one start and one end; generated factories wrap it. New makes an informer over
// any Source, without a factory.
//
// What is wanted of the objects, and how:
//
//	events, as they come      AddEventHandler, or a loop over Events
//	the state, when asked     Store, and the listers over it; AddIndexers or WithIndexes for lookups
//	the state, once it is so  Until; after a write of your own AwaitObject, AwaitDeleted, AwaitResourceVersion
//	whether all is well       Status, WaitForCacheSync, WithErrorHandler, WithMetrics
//	less of them              WithNamespaces, WithLabelSelector, WithFieldSelector, WithShardSelector; ForMetadata,
//	                          WithoutManagedFields, WithoutAnnotations; WithTransform; FilteringHandler
//	that for one kind only    WithKind, and for one more informer of a kind Kind.With; both take KindOptions
//
// # Order
//
// For one key, a handler gets the events in the server's order: OnAdd, any number of OnUpdate,
// OnDelete, then OnAdd again. The old object of an OnUpdate is the new one of the event before. An
// object with another UID is another object: the old one's OnDelete comes before the new one's
// OnAdd, even if the deletion itself was not seen. An object with the same UID and resourceVersion
// as before is not reported again.
//
// Between keys, a handler that keeps up sees the server's order too, with three exceptions: the
// initial objects come in no particular order; of the differences that a relist finds, the
// deletions come first; and an informer of several namespaces reads each as a stream of its own,
// which are not ordered among each other.
//
// A handler keeps up while no more events wait for it than its backlog threshold, or while it is
// quick: it takes less than 50 µs for an event. Such a handler is told of every single event; see
// below for who waits for it. For a handler that is slow, waiting events are merged by key: an
// OnUpdate leads from the state that the handler was told last to the newest one, an object that
// was added and deleted in the meantime is not reported, and keys come in the order of their oldest
// waiting event. So at most two events wait for a key, whatever happens on the server, and only
// intermediate states are lost. Once nothing waits for the handler any more, it sees every event
// again.
//
// The store is ahead of the handlers: it has a change before any handler is told of it, and may
// have later ones too. It moves in steps: a snapshot is at one resourceVersion (of several
// namespaces, at one for each, and ResourceVersion is the oldest), and has a list as a whole or not
// at all. There is no order between handlers.
//
// Less formally: apply the events to an empty map, and the map becomes equal to the store.
//
// # Objects are read-only
//
// All readers and handlers get the same objects, and objects share equal parts: maps, slices, what
// pointers point to. So they must not be changed; change a copy made by DeepCopyObject. Appending
// to a slice of an object writes to a new array, because none has room to spare.
// WithMutationDetector finds who changes what.
//
// If a program changes an object by mistake, others with an equal part are wrong with it. None is
// for longer than until the server sends it again, be it in an event or in a list that finds its
// version unchanged; then handlers are told of an update of each that was wrong. Objects that are
// new are right. Two limits: what is changed less than some milliseconds before the server sends an
// object may still be seen in it, and a list doesn't notice a change of a part so rare that it was
// forgotten (there is room for 16 MB of them). Of the object that was changed itself, what it
// shares with no other stays as it is until the server has a new version. Writing to a map of a
// cached object may also end the process, as Go does when another goroutine reads it at that
// moment.
//
// WithoutSharing has each object own its parts, as they do in client-go, for twice the memory.
//
// # Sync
//
// An informer has synced when its store has a first full state, of every namespace. A handler has
// synced when, besides, each of its initial OnAdds has returned; it gets those of a namespace as
// soon as that one's are there. Both stay so, also when the informer stops, and runs again. What
// has not synced says why: in Status, in the log every 10 s while somebody is in WaitForCacheSync,
// and in the error of that.
//
// # Blocking
//
// A callback may take as long as it needs. It delays the next event of its own handler and nothing
// else, with one exception: no other handler, not the store, not the watch. Whenever a handler has
// something to be told, a goroutine that is in no callback is on its way to it. The body of a loop
// over Events is such a callback. Adding a handler, before or after the start, neither blocks nor
// delays anyone, and neither does reading. AddIndexers waits until the batch that is being applied
// is done. Registration.Remove waits for the handler's running callback, RemoveContext until its
// context is done.
//
// The exception: when more events wait for a handler than its backlog threshold, what reads the
// watch waits until the handler has taken two events for each new one, or has no more waiting than
// that. So the server sends no faster than the handler takes, and nothing is merged. It waits for
// 250 ms in all, and 50 µs more for each event that the handler takes meanwhile, so that it need
// not stop waiting for a quick handler. After that the handler is slow: its events are merged, and
// nothing waits for it until it has caught up. Ten handlers that hang are waited for together, for
// 250 ms. Nothing waits where the threshold is Never, or less than 128, which one batch may pass,
// nor for a handler that more initial objects wait for than its threshold or that is in its first
// callback, nor for the differences that a relist has found; if those of a second one come while a
// handler has more waiting than its threshold, they are merged.
//
// A callback that has not returned after 30 s is logged, and again each 5 min, with the informer,
// the handler, the key and how long it has been running.
//
// The end of an informer waits for every running callback. Run does so once its context is done;
// Lease.Release, Factory.Stop, Factory.Remove and Factory.Shutdown do so until the context that
// they are given is done. Acquire and Factory.Start wait for nothing: where the last run has not
// ended yet, the next one follows it. A callback, or the body of a loop over Events, that waits for
// the end of its own informer waits for itself, until that context is done.
//
// A transform and an error handler hold up the stream that they are called for. If objects arrive
// faster than they can be stored, the stream is read more slowly: at most 1,024 changes wait.
//
// # Panics
//
// A panic in a handler is logged, with the key and the stack, and the handler goes on with its next
// event, unless WithPanicOnHandlerCrash(true) was given. A callback that calls runtime.Goexit is
// logged too; its handler goes on in either case. A panic of a transform is treated as the error
// that it could have returned. One of an index function is passed on to the caller of AddIndexers;
// later, it is given to the error handler, and that index lacks the object. Nobody recovers from a
// panic of anything else that is given to an informer (a Source, an error handler, what mutations
// are reported to, a metrics provider): it ends the process. A Source, a transform, an index
// function or an error handler that calls runtime.Goexit ends its informer: that is logged, and Run
// returns an error that says so.
//
// Wrong use never panics. It is an error of the call, or, where a call has none to return, of
// Factory.Start.
//
// # Goroutines
//
// Constructors start nothing, and no goroutine is left when an informer has stopped. It runs while
// somebody holds a lease: a Run, an Acquire, or a factory that was started.
//
//	goroutine               | started by                            | ends when
//	------------------------+---------------------------------------+-----------------------------------------------
//	run, which reads the    | the first lease                       | the last lease has ended, which cancels an HTTP
//	  first stream          |                                       | request in flight, and all goroutines below
//	                        |                                       | have ended
//	reflector, one for each | run                                   | the last lease has ended
//	  further stream        |                                       |
//	apply, one per stream,  | who reads the stream                  | the last lease has ended
//	  if there are indexes  |                                       |
//	  or several writers    |                                       |
//	deliver, one for each   | who publishes changes, AddEventHandler| nothing is left to deliver, except for two that
//	  running callback, and | while it runs, or another one of them | wait for more; the last lease has ended; a
//	  at most two           |                                       | running callback returns first
//	mutation checks, if     | run                                   | the last lease has ended; run itself makes the
//	  WithMutationDetector  |                                       | last check
//	  was given             |                                       |
//
// There is one stream for each namespace given to WithNamespaces, else one in all. Who calls your
// code:
//
//	a handler's callback      | any that delivers; for one handler one call at a time, each after the one before has
//	                          | returned
//	the body of a loop over   | your own goroutine; one that delivers waits meanwhile
//	  Events                  |
//	the condition of Until    | your own goroutine
//	a transform function      | run or reflector; several at once if there are several streams
//	an error handler          | the same; apply, if the function of an index has panicked
//	an index function         | apply, callers of AddIndexers, lookups in a snapshot that lacks the index
//	a metrics recorder        | any of these; what reads the state, whoever collects
package informer
