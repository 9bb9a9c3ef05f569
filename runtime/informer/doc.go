// SPDX-License-Identifier: Apache-2.0

// Package informer keeps local copies of API objects, and calls handlers when they change.
//
// A [SharedIndexInformer] keeps a copy of the objects of one resource, as values of one Go type.
// The copy is called its store. [New] makes an informer over any [source.Source], [NewIn] one of
// several namespaces, with a Source for each. Package
// [github.com/informer-gen/informer-gen/runtime/informer/factories] makes many, which share a
// client and are started and stopped together; generated factories are built on it.
//
// An informer first reads all objects with a list. Then it opens a watch, a request whose response
// is a stream of changes. If the watch can't be continued, it relists: it reads all objects again,
// and takes the differences as changes. Each object has a resourceVersion, which the server changes
// with each write.
//
// What a program may need, and what provides it:
//
//	events, as they come       AddEventHandler, or a loop over Events
//	the state, when asked      Store, and the listers over it; AddIndexers or WithIndexes for
//	                           lookups
//	the state, once it is so   Until; after a write of your own AwaitToken, AfterToken,
//	                           AwaitObject, AwaitDeleted, AwaitResourceVersion
//	whether all is well        Status, WaitForCacheSync, WithErrorHandler, WithMetrics
//	fewer or smaller objects   WithNamespace, AddNamespace, WithLabelSelector, WithFieldSelector,
//	                           WithShardSelector; factories.ForMetadata, WithoutManagedFields,
//	                           WithoutAnnotations; WithTransform; FilteringHandler
//	that for one kind only     factories.WithKind; for one more informer of a kind,
//	                           factories.Kind.With; both take factories.KindOptions
//
// # Options
//
// An [Option] configures an informer, or a factory, as the default of all its informers. These
// choose what is read: [WithNamespace], [WithLabelSelector], [WithFieldSelector],
// [WithShardSelector]. These choose how it is read: [WithFormats], [WithTuning]. These choose what
// is kept: [WithoutManagedFields], [WithoutAnnotations], [WithTransform], [WithIndexes],
// [WithoutSharing], [WithEmptyBeforeSync]. These choose what is reported: [WithName], [WithLogger],
// [WithMetrics], [WithErrorHandler], [WithMutationDetector].
//
// A [HandlerOption] configures one handler ([WithHandlerName], [WithHandlerLogger],
// [WithEveryDeletion]), a [SharedOption] one handler or all of an informer's: [WithResyncPeriod],
// [WithBacklogThreshold], [WithPanicOnHandlerCrash]. A [WaitOption] configures one
// WaitForCacheSync: [FailOn].
//
// # Handlers
//
// A [Handler] has three methods. [HandlerFuncs] is one made of functions, and [FilteringHandler]
// passes on the events of some objects only. AddEventHandler returns a [Registration], by which the
// handler can be removed. A loop over Events gets the same as values, each a [Change].
//
// # Status
//
// A [Status] has what an informer is doing. It has a [StreamStatus] for each namespace that is
// read and a [HandlerStatus] for each handler. KeyStatus names the handlers that have events of
// one key to come. A [Mutation] names the code that has changed an object. Package
// [github.com/informer-gen/informer-gen/runtime/inspect] makes a page of all that.
//
// # Order
//
// For one key, a handler gets the events in the server's order: OnAdd, any number of OnUpdate,
// OnDelete, then OnAdd again. The old object of an OnUpdate is the new object of the previous
// event. An object with another UID is another object: the old one's OnDelete comes before the new
// one's OnAdd, even if the informer did not see the deletion itself. An object that comes again
// with the same UID and resourceVersion is not reported again.
//
// Between keys, a handler that keeps up gets the events in the server's order too, with three
// exceptions. The initial objects come in no particular order. Of the differences that a relist
// finds, the deletions come first. An informer of several namespaces reads each namespace as a
// stream of its own; there is no order between streams.
//
// A handler keeps up while no more events wait for it than its backlog threshold, or while it is
// quick: it takes less than 50 µs for an event. Such a handler gets every single event; the
// informer waits for it, see Blocking below. For a slow handler, waiting events are merged by key:
// an OnUpdate leads from the last state that the handler got to the newest one, an object that was
// added and deleted in the meantime is not reported, and keys come in the order of their oldest
// waiting event. So at most two events wait for a key, whatever happens on the server, and only
// intermediate states are lost. ([WithEveryDeletion] has deletions reported that would be lost with
// them.) Once no event waits for the handler, it gets every event again.
//
// The store is ahead of the handlers: it has a change before any handler gets the event, and may
// have later changes too. It moves in steps. A snapshot of it is at one resourceVersion, and has a
// list as a whole or not at all. With several namespaces, it is at one resourceVersion for each of
// them, and ResourceVersion returns the oldest. There is no order between handlers.
//
// In short: apply the events to an empty map, and the map becomes equal to the store.
//
// # Objects are read-only
//
// All readers and handlers get the same objects, and objects share equal parts: maps, slices, and
// what pointers point to. So a program must not change them; it can change a copy made by
// DeepCopyObject. It may append to a slice of an object: no slice has spare capacity, so append
// makes a new array. [WithMutationDetector] finds code that changes objects, and names the field.
//
// If a program changes an object by mistake, other objects with an equal part become wrong too.
// Each stays wrong at most until the server sends it again, in an event or in a list, even if its
// version is unchanged. Then handlers get an OnUpdate for each object that was wrong. Objects that
// are new are right. There are two limits. A change made a few milliseconds before the server sends
// an object may still appear in that object. And a list doesn't notice a change of a rare part that
// the informer has forgotten (it remembers 16 MB of parts). In the changed object itself, parts
// that no other object shares stay changed until the server has a new version. Writing to a map of
// a cached object may also end the process, as Go does when another goroutine reads the map at that
// moment.
//
// With [WithoutSharing], each object owns its parts, as in client-go, and takes more memory.
//
// # Sync
//
// An informer has synced when its store has a first full state of every namespace. A handler has
// synced when, in addition, each of its initial OnAdds has returned; it gets those of a namespace
// as soon as the store has that namespace. Both stay synced, also when the informer stops and runs
// again, or gets one more namespace by AddNamespace (for which WaitForCacheSync waits, too). An
// informer that has not synced reports why: in Status, in the log every 10 s during a
// WaitForCacheSync, and in the error of WaitForCacheSync.
//
// # Blocking
//
// A callback may take as long as it needs. It delays the next event of its own handler. With one
// exception, it delays nothing else: no other handler, not the store, not the watch. Each handler
// has a goroutine of its own. The body of a loop over Events counts as a callback. Adding a
// handler, before or after the start, neither blocks nor delays other goroutines, and neither does
// reading the store. AddIndexers waits until the batch that is being applied is done.
// [Registration.Remove] waits for the handler's running callback, [Registration.RemoveContext]
// until its context is done.
//
// The exception: when more events wait for a handler than its backlog threshold, the controller
// loop, which stores changes, waits until the handler has taken two events for each new one, or has
// no more waiting than its threshold. So the server sends no faster than the handler takes, and no
// events are merged. The loop waits for 250 ms in all, and 50 µs more for each event that the
// handler takes meanwhile, so the wait for a quick handler need not end. After that the handler is
// slow: its events are merged, and the loop does not wait for it until it has caught up. For ten
// handlers that hang, it waits once, for 250 ms.
//
// It does not wait at all:
//
//   - if the threshold is Never, or less than 128, which one batch may pass;
//   - while initial objects are left to deliver to the handler;
//   - after the differences that a relist has found. If a second relist finds differences while
//     more events than its threshold wait for a handler, they are merged.
//
// A callback that has not returned after 30 s is logged within 5 s, and again each 5 min, with the
// informer, the handler, the key and how long it has been running.
//
// The end of an informer waits for every running callback. Run does so once its context is done.
// [Lease.Release], and Stop, Remove and Shutdown of a factory, do so until the context that they
// are given is done. Acquire, and Start of a factory, wait for nothing: if the last run has not
// ended yet, the next one follows it. A callback, or the body of a loop over Events, that waits for
// the end of its own informer waits for itself, until that context is done.
//
// A transform and an error handler delay the stream for which they are called. If objects arrive
// faster than they can be stored, the stream is read more slowly: at most 1,024 changes wait.
//
// # Panics
//
// A panic in a handler is logged, with the key and the stack, and the handler gets its next event,
// unless [WithPanicOnHandlerCrash](true) was given. A callback that calls runtime.Goexit is logged
// too; its handler gets its next event in either case. A panic of a transform is treated as an
// error that it returned. A panic of an index function during AddIndexers reaches the caller of
// AddIndexers. A later one goes to the error handler, and the index lacks the object. The informer
// does not recover from a panic of other code that it is given (a Source, an error handler, a
// function for mutations, a metrics provider): it ends the process. If a Source, a transform, an
// index function or an error handler calls runtime.Goexit, its informer ends: that is logged, and
// Run returns an error that says so.
//
// Wrong use never panics. The call returns an error, or, if it can't return one, the factory's
// Start does.
//
// # Goroutines
//
// Constructors start nothing, and no goroutine is left when an informer has stopped. An informer
// runs while it has a lease: a call of Run, a [Lease] from Acquire, or a started factory.
//
//	goroutine                  | started by                    | ends when
//	---------------------------+-------------------------------+--------------------------------
//	controller loop            | the first lease               | the last lease has ended
//	reader: one for each       | the loop, AddNamespace        | the last lease has ended, which
//	  stream                   |                               | cancels an HTTP request in
//	                           |                               | flight, or the namespace was
//	                           |                               | removed
//	handler: one for each      | the loop, AddEventHandler     | the last lease has ended, or the
//	                           | while the informer runs       | handler was removed; a running
//	                           |                               | callback returns first
//	watchdog of the handlers   | the loop                      | all handlers have ended
//	a function of AfterToken   | the loop, or AfterToken       | it returns
//	checkpoints, mutation      | the loop                      | the last lease has ended; what is
//	  detector, if there are   |                               | left to do is done then
//
// There is one stream for each namespace given to [WithNamespace] or AddNamespace, else one in all.
// The goroutines that call your code:
//
//	a handler's callback       | the handler's, one call at a time
//	the body of a loop over    | your own; a handler's waits meanwhile
//	  Events                   |
//	the condition of Until     | your own
//	a transform function       | a reader; several at once if there are several streams
//	an error handler           | the same; the loop, if the function of an index has panicked
//	an index function          | the loop, callers of AddIndexers, lookups in a snapshot that
//	                           | lacks the index
//	a metrics recorder         | any of these; the functions that read the state: the goroutine
//	                           | that collects
package informer
