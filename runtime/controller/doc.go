// SPDX-License-Identifier: Apache-2.0

// Package controller calls a function for each changed object until the cluster is as it should be.
//
// A [Controller] has a work queue, workers that call its [Reconcile], and watches: informer
// handlers that queue keys. The function is called once for all events of a key since its last
// call, never concurrently for one key, and again after an error. It compares the object in the
// informers with the desired state, and writes the difference.
//
// Generated kinds make their controllers if informer-gen.yaml says controllers: true, or
// informer-gen runs with --controllers. The function gets a copy of the object:
//
//	widgets := factory.Samples().V1alpha1().Widgets()
//	sync := func(ctx context.Context, w *shopv1.Widget) (controller.Result, error) { … }
//	c, err := widgets.Reconcile("widgets", sync,
//		controller.When(controller.GenerationChanged[*shopv1.Widget]),
//		controller.Owns(pods),
//		controller.Indexed(shoplisters.WidgetBySite(), sites.Informer(), (*shopv1.Site).GetName),
//	)
//	…
//	err = c.Run(ctx)
//
// [New] makes a controller by hand, from a function of keys:
//
//	c, err := controller.New("widgets", reconcile, controller.Options{Concurrency: 4},
//		controller.For(widgets, controller.GenerationChanged).
//			OfKind(schema.GroupKind{Group: "samples.io", Kind: "Widget"}, true),
//		controller.Owns(pods),
//	)
//
// # Where keys come from
//
//	the object itself                            For
//	an object it owns                            Owns
//	an object it refers to                       Indexed, by the index that finds the referrers
//	any other                                    Watches
//	time                                         Every; Result.RequeueAfter for one key
//	anything else in the program                 Controller.Enqueue
//
// A [Filter] drops events of a watch: [GenerationChanged], [LabelsChanged], or your own function.
// [Watch.After] turns a burst of events into one reconcile. Initial objects and resyncs are queued
// at low priority, so a change need not wait for all of them. With Options.Tenant, the keys of a
// namespace, or of any other tenant, need not wait for all keys of another one.
//
// # After a reconcile
//
//	it returned                    | the key comes back
//	-------------------------------+------------------------------------------------------------
//	nothing                        | with its next event
//	Result.RequeueAfter            | after that time, or with its next event before
//	an error, a panic, Goexit      | after a delay that grows with consecutive failures, set by
//	                               | the limiter of Options.Queue; with an event at once, but
//	                               | not sooner than the minimum delay
//	an error and RequeueAfter      | after the shorter of the two
//	Terminal(err), or the error    | with its next event, or after RequeueAfter; its failures are
//	  after Options.MaxRetries     | forgotten
//	any of them, after Wrote       | as above, but not before the informers have the writes
//
// An event during a reconcile queues the key again, so a reconcile need not look for later changes.
//
// # Consistency
//
// An informer's store has a change before its handler queues the key. So a reconcile sees each
// object at least as new as the event that queued it, and may see it newer. Several informers are
// not synchronized: a Pod may be there before its Node is. Reconciles of one key are ordered; those
// of different keys or controllers are not.
//
// A reconcile's own writes take a moment to come back through the watch. The next reconcile waits
// for them if the controller knows their tokens, from calls to [Wrote]. A Writer with Wrote as its
// OnWrite makes these calls. Meanwhile the key is held in the queue, and occupies no worker.
//
//   - A write that changed nothing has the version the informer already has: nothing is held.
//   - A delete is awaited until the object is gone or, if a finalizer keeps it, until the update
//     that marks it.
//   - An object excluded by the informer's selectors has no event there, so the hold ends with the
//     next event of another object, or after Options.AwaitTimeout. Write such objects with a Writer
//     without OnWrite.
//   - After a conflict, the missing version is unknown. Return the error: the key is retried after
//     its earlier writes were seen.
//
// A hold that reaches Options.AwaitTimeout ends, is logged, and is counted in Status and metrics:
// the watch is slow or broken, and the reconcile works with the state at hand. If a run ends during
// a hold, the next run continues it.
//
// # Replicas that share the work
//
// With Options.Ring, the replicas of a program divide the keys into buckets, and each reconciles
// those of the buckets it holds; package shard explains how. The function must know these rules:
//
//   - Keys of other buckets are dropped when they are queued, and again when a worker gets them.
//   - When this process gets a bucket, all its keys are queued at low priority, from all watches,
//     as if the objects had just been added. It is a restart for them: their failures, delays and
//     awaited writes are forgotten, and an object deleted meanwhile is not seen. Clean up with a
//     finalizer.
//   - When a bucket is given away, its waiting keys are dropped, and no reconcile of them begins.
//     Running ones may go on for the ring's Grace. Then their contexts are done, and
//     context.Cause(ctx) wraps shard.ErrNotOwned. An error that follows from it is neither logged
//     nor counted.
//   - The bucket of a key is that of its object in the informer of For, so it is that of the owner
//     if the owner is a root. A key without an object counts as a root. By UID, it has no bucket:
//     the event of a deletion is dropped, so a deletion needs a finalizer to be seen.
//
// # Start and end
//
// [Controller.Run] starts the informers of its watches, and reconciles when they have synced. A
// restarted informer must first have read all objects again. Run waits for no other informer or
// handler. While it waits, it logs the reason every 10 s; Status has it, too.
//
// When its context is done, Run removes its handlers, drops the queue, and waits for the running
// reconciles. Their contexts are done at once, or after Options.Grace. With Options.ShutDown,
// queued keys are reconciled first, within that time. Then Run stops the informers that nothing
// else uses. The next Run begins with all objects, so dropped keys are queued again.
//
// # Goroutines
//
//	goroutine                       | started by          | ends when
//	--------------------------------+---------------------+-------------------------------------
//	worker: one for each reconcile  | Run, when it begins | the context of Run is done, and its
//	  that may run at once          | to reconcile        | reconcile has returned. With
//	                                |                     | Options.ShutDown, when nothing is
//	                                |                     | queued or Options.Grace has passed
//	seen: for a moment, when a      | the informer        | the key is no longer held back
//	  write has arrived             |                     |
//	period: one for each Every      | Run, when it begins | the context of Run is done
//	                                | to reconcile        |
//	granted: with Options.Ring      | Run, when it begins | the context of Run is done
//	                                | to reconcile        |
//
// The goroutines that call your code:
//
//	Reconcile                          | a worker
//	filters, and the functions of      | those that call handlers of the informer, or granted,
//	  Watches and Indexed              | one call at a time for each watch
//	the function of Every              | period
//	Options.Tenant                     | all that queue a key, also callers of Enqueue and Run;
//	                                   | with Options.Ring, with a lock of the controller
//
// # Blocking
//
// A reconcile may take as long as it needs; it blocks only one worker and its key. A filter or a
// mapping blocks its own handler. All other methods only take locks that are held briefly.
package controller
