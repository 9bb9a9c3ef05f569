// SPDX-License-Identifier: Apache-2.0

// Package informer keeps local copies of API objects and calls handlers when they change.
//
// A [SharedIndexInformer] keeps a copy of one resource's objects, its store, as values of one Go
// type. [New] makes an informer over any [source.Source], [NewIn] one over several namespaces.
// Package [github.com/informer-gen/informer-gen/runtime/informer/factories] makes informers that
// share a client and are started and stopped together; generated factories are built on it.
//
// An informer first reads all objects with a list. Then it opens a watch, a request whose response
// is a stream of changes. If the watch can't be continued, the informer relists: it reads all
// objects again and takes the differences as changes. The server changes an object's
// resourceVersion with each write.
//
// Where to find things:
//
//	events as they come        AddEventHandler, with HandlerFuncs or FilteringHandler; a loop over
//	                           Events gets each as a Change
//	the current state          Store, and the listers over it; AddIndexers or WithIndexes for
//	                           lookups
//	waiting for a state        Until; after a write of your own AwaitToken, AfterToken,
//	                           AwaitObject, AwaitDeleted, AwaitResourceVersion
//	health                     Status, KeyStatus, WaitForCacheSync, WithErrorHandler, WithMetrics;
//	                           package inspect shows a page for people
//	fewer or smaller objects   WithNamespace, AddNamespace, WithNamespaceSelector,
//	                           WithLabelSelector, WithFieldSelector, WithShardSelector;
//	                           factories.ForMetadata, WithoutManagedFields, WithoutAnnotations;
//	                           WithTransform; FilteringHandler
//	how objects are read       WithFormats, WithTuning, WithCheckpoint, WithOptionalResource
//	options for one kind       factories.WithKind; for one more informer of a kind,
//	                           factories.Kind.With; both take factories.KindOptions
//
// An [Option] configures an informer or, given to a factory, all its informers; a [HandlerOption]
// one handler; a [SharedOption] one handler or all of an informer's; a [WaitOption] one
// WaitForCacheSync.
//
// # Order
//
// For one key, a handler gets the events in the server's order: OnAdd, any number of OnUpdate,
// OnDelete, then OnAdd again. The old object of an OnUpdate is the new object of the previous
// event. An object with another UID is another object: the old one's OnDelete comes before the new
// one's OnAdd, even if the informer missed the deletion. An object that comes again unchanged, with
// the same UID and resourceVersion, is not reported again.
//
// Between keys, a handler that keeps up also gets the events in the server's order, with three
// exceptions. The initial objects come in no particular order. Of the differences found by a
// relist, deletions come first. Each of several namespaces is a stream of its own, and there is no
// order between streams, nor between handlers.
//
// A handler keeps up while its backlog is within its threshold, or while it is quick: it takes less
// than 50 µs per event. It then gets every single event; the informer waits for it (see Blocking).
// For a slow handler, waiting events are merged by key: an OnUpdate leads from the last state the
// handler got to the newest one, an object added and deleted in the meantime is not reported, and
// keys come in the order of their oldest waiting event. So at most two events wait for a key, and
// only intermediate states are lost. ([WithEveryDeletion] keeps all deletions.) Once its backlog is
// empty, the handler gets every event again.
//
// The store has a change before any handler gets the event, and may have later changes too. A
// snapshot is at one resourceVersion, and has all of a list or nothing of it. With several
// namespaces, each has its own resourceVersion in the snapshot, and ResourceVersion returns the
// oldest.
//
// In short: apply the events to an empty map, and the map becomes equal to the store.
//
// # Objects are read-only
//
// All readers and handlers get the same objects, and objects share equal parts: maps, slices and
// the targets of pointers. So a program must not change them; it can change a copy made by
// DeepCopyObject. It may append to a slice of an object: no slice has spare capacity, so append
// makes a new array. [WithMutationDetector] finds code that changes objects, and names the field.
//
// If a program changes an object by mistake, other objects with an equal part become wrong too, at
// most until the server sends them again, in an event or a list, even at an unchanged version. Then
// handlers get an OnUpdate for each object that was wrong. New objects are right. There are two
// limits. A change made a few milliseconds before the server sends an object may still appear in
// that object. And a list doesn't notice a change of a rare part that the informer has forgotten
// (it remembers 16 MB of parts). In the changed object itself, parts shared with no other object
// stay changed until the server has a new version. Writing to a map of a cached object may also end
// the process, as Go does when another goroutine reads the map at that moment.
//
// With [WithoutSharing], each object owns its parts, as in client-go, and takes more memory.
//
// # Sync
//
// An informer has synced when its store has a first full state of every namespace. A handler has
// synced when, in addition, each of its initial OnAdds has returned; it gets a namespace's as soon
// as the store has that namespace. Both stay synced, even if the informer stops and runs again, or
// gets one more namespace by AddNamespace, or because its labels match (WaitForCacheSync does wait
// for it). Status and WaitForCacheSync tell why an informer has not synced. WaitForCacheSync does
// not wait for an informer whose resource doesn't exist, if [WithOptionalResource] allows that.
//
// An informer of a ring ([WithRing]) has synced when it has the buckets that were wanted when it
// began to run. The objects of later buckets come as additions that are not initial, and those of
// lost ones go as deletions with an unknown final state.
//
// # Blocking
//
// A callback, or the body of a loop over Events, may take as long as it needs. It delays the next
// event of its own handler, which has a goroutine of its own, and, with one exception, nothing
// else: no other handler, not the store, not the watch. Adding a handler and reading the store
// neither block nor delay other goroutines. AddIndexers waits until the current batch is applied.
// [Registration.Remove] waits for the handler's running callback, [Registration.RemoveContext]
// until its context is done.
//
// The exception: when a handler's backlog exceeds its threshold, the controller loop, which stores
// changes, waits until the handler has taken two events for each new one, or its backlog is back
// within the threshold. So the server sends no faster than the handler takes, and no events are
// merged. The loop waits for 250 ms in all, and 50 µs more for each event taken meanwhile, so the
// wait for a quick handler need not end. After that the handler is slow: its events are merged, and
// the loop does not wait for it until it has caught up. Ten handlers that hang cost it one wait of
// 250 ms.
//
// It does not wait at all:
//
//   - if the threshold is Never, or less than 128, which one batch may exceed;
//   - while the handler still has initial objects to get;
//   - after the differences found by a relist. If a second relist finds differences while the
//     handler is over its threshold, they are merged.
//
// A callback that has not returned after 30 s is logged within 5 s, and again each 5 min, with the
// informer, the handler, the key and its running time.
//
// The end of an informer waits for every running callback: Run does once its context is done,
// [Lease.Release], and Stop, Remove and Shutdown of a factory, until the given context is done.
// Acquire, and Start of a factory, wait for nothing: if the last run has not ended yet, the next
// one follows it. A callback that waits for the end of its own informer waits for itself, until
// that context is done.
//
// A transform and an error handler delay the stream they are called for. If objects arrive faster
// than they can be stored, the stream is read more slowly: at most 1,024 changes wait.
//
// # Panics
//
// A panic in a handler is logged, with the key and the stack, and the handler gets its next event,
// unless [WithPanicOnHandlerCrash](true) was given. A callback that calls runtime.Goexit is logged
// too; its handler gets its next event in either case. A panic of a transform counts as a returned
// error. A panic of an index function during AddIndexers reaches its caller. A later one goes to
// the error handler, and the index lacks the object. A panic of other code of yours (a Source, an
// error handler, a function for mutations, a metrics provider) ends the process. If a Source, a
// transform, an index function or an error handler calls runtime.Goexit, the informer ends and logs
// it, and Run returns an error that says so.
//
// Wrong use never panics. The call returns an error or, if it can't, the factory's Start does.
//
// # Goroutines
//
// Constructors start nothing, and a stopped informer leaves no goroutine behind. An informer runs
// while it has a lease: a call of Run, a [Lease] from Acquire, or a started factory.
//
//	goroutine                  | started by                    | ends when
//	---------------------------+-------------------------------+--------------------------------
//	controller loop            | the first lease               | the last lease has ended
//	reader: one for each       | the loop, AddNamespace, the   | the last lease has ended, which
//	  stream                   | follower of namespaces        | cancels an HTTP request in
//	                           |                               | flight, or the namespace was
//	                           |                               | removed
//	follower of namespaces,    | the loop; it has a lease of   | the last lease has ended, and if
//	  with a selector or a     | the informer of Namespaces,   | no one else has one, that
//	  ring                     | if it reads these             | informer's goroutines have, too
//	handler: one for each      | the loop, AddEventHandler     | the last lease has ended, or the
//	                           | while the informer runs       | handler was removed; a running
//	                           |                               | callback returns first
//	watchdog of the handlers   | the loop                      | all handlers have ended
//	a function of AfterToken   | the loop, or AfterToken       | it returns
//	checkpoints, mutation      | the loop                      | the last lease has ended and the
//	  detector, if there are   |                               | remaining work is done
package informer
