// SPDX-License-Identifier: Apache-2.0

// Package controller calls a function with each object that has changed, until all is as it should
// be.
//
// A [Controller] has a work queue, workers that call its [Reconcile], and watches: handlers of
// informers that queue keys. It queues a key for every event that concerns it, calls the function
// once for all the events of a key that have come meanwhile, never twice at once for one key, and
// again after an error. The function compares what the key stands for, as the informers have it,
// with what should be, and writes the difference.
//
// A kind that code was generated for makes its controllers, if informer-gen.yaml says
// controllers: true, or informer-gen is called with --controllers. The function gets a copy of the
// object:
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
// [New] makes them by hand, with a function of keys:
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
//	an object that it owns                       Owns
//	an object that it refers to                  Indexed, by the index that finds who refers to it
//	any other                                    Watches
//	time                                         Every; Result.RequeueAfter for one key
//	anything else in the program                 Controller.Enqueue
//
// A [Filter] drops events of a watch: [GenerationChanged], [LabelsChanged], or a function of your
// own. [Watch.After] collects the events of a watch for a while: a burst of them
// is one reconcile. Objects that an informer had already when the controller started, and
// resyncs, are queued at low priority, so that a change need not wait for all of them.
//
// # What comes after a reconcile
//
//	it returned                    | the key comes back
//	-------------------------------+------------------------------------------------------------
//	nothing                        | with its next event
//	Result.RequeueAfter            | after that time, or with its next event before
//	an error, a panic, Goexit      | after a delay that grows with the failures in a row, by the
//	                               | limiter of Options.Queue; with an event at once, but not
//	                               | sooner than the least delay
//	an error and RequeueAfter      | after the shorter one of the two
//	Terminal(err), or the error    | with its next event, or after RequeueAfter; its failures are
//	  after Options.MaxRetries     | forgotten
//	any of them, after Wrote       | as above, but not before the informers have the writes
//
// An event that comes while the key is reconciled queues it again; that reconcile begins after this
// one has ended. So a reconcile need not ask whether something has changed since it began.
//
// # What a reconcile sees
//
// The store of an informer has a change before its handler queues the key. So a reconcile sees each
// object at least as new as the event that queued it, and may see it newer. Several informers are
// not at one moment: a Pod may be there before its Node is. Reconciles of one key have an order,
// those of different keys, or controllers, have none.
//
// What the reconcile itself has written takes a moment to come back by the watch. The next
// reconcile waits for that if the controller knows the tokens of the writes: those that [Wrote] was
// called with, whatever the reconcile returns. A Writer with Wrote as its OnWrite calls it. The key
// is then held in the queue, without a worker, until the informers have the writes.
//
//   - A write that changed nothing has the version that the informer has: nothing is held.
//   - A delete is awaited until the object is gone. If a finalizer keeps the object, what is
//     awaited is the update that marks it.
//   - An object that the selectors of the informer exclude has no event there, so the hold ends
//     with the next event of another object, or after Options.AwaitTimeout. Write such objects by
//     a Writer that has no OnWrite.
//   - After a conflict, what is missing is unknown. Return the error: the key is tried again, after
//     the writes before it were seen.
//
// A hold that lasts for Options.AwaitTimeout ends, is counted in Status and metrics, and logged:
// then the watch is slow or broken, and the reconcile works with what there is. If a run ends
// during a hold, the next run continues the hold.
//
// # Start and end
//
// A constructor starts nothing. [Controller.Run] keeps the informers of its watches running, and
// begins to reconcile when these have synced, and its own handlers have handled the initial
// objects. An informer that has run before and had stopped must have read all objects again. Run
// waits for no other informer and for no other handler. While it waits, it logs for what and why,
// every 10 s, and Status has that, too.
//
// When its context is done, Run removes its handlers, drops what is queued, and waits for the
// reconciles that run. Their contexts are done at once, or after Options.Grace. With
// Options.ShutDown, what is queued is reconciled first, within that time. Then it stops the
// informers that nothing else uses. What was dropped is queued again by the next Run, which begins
// with all objects.
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
//
// Run waits for all of them. The goroutines that call your code:
//
//	Reconcile                          | a worker
//	filters, and the functions of      | those that call handlers of the informer, one call
//	  Watches and Indexed              | at a time for each watch
//	the function of Every              | period
//
// # Blocking
//
// A reconcile may take as long as it needs. It holds up one worker, and its key. A filter or a
// mapping holds up its own handler. None of the other methods waits for anything but locks that are
// held for moments.
package controller
