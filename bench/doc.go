// SPDX-License-Identifier: Apache-2.0

// Bench measures informer-gen's runtime against client-go's, side by side, and prints a table with the ratios.
//
//	go run ./bench                                        all of it: one to two minutes on two cores
//	go run ./bench --only event,store                     some of it
//	go run ./bench --only sync --side informer-gen --cpuprofile cpu.out
//
// # How
//
// Both sides run in one process, in turn, and neither always first. A run begins from scratch, after a garbage
// collection. The first run of each side does not count; of the others (--runs) the median is shown, for each line on
// its own. After each run the program checks that both sides have ended up with the same objects and that their
// handlers were told the same, and fails if not. Times, CPU and allocations are those of the whole process, so the
// collector and the program's own part are in them, the latter in the same way on both sides.
//
// client-go runs as it comes: its default feature gates, tools/cache's SharedIndexInformer with an index by namespace
// (the one its factories give it), the typed core/v1 client, its generated Pod lister. informer-gen runs as it comes
// too, with the exceptions that are named below. Handlers are the same functions; what a side does to call them
// (casts, adapters) is its own.
//
// The ratio says how many times better informer-gen is: time, memory and allocations of client-go over those of
// informer-gen, throughput of informer-gen over that of client-go. Below 1, informer-gen is worse.
//
// # sync, sync-list
//
// The initial sync from the wire: from calling Run on a new informer until its handler's OnAdd was called for the last
// Pod. The Pods (--objects, 20,000) have about 4 KB of JSON each, as in a busy cluster: 20 of each ReplicaSet share
// labels, image and specification, while names, UIDs, addresses, times and IDs are their own. The bytes are prepared
// beforehand in files and come from an http.RoundTripper that answers like an API server with a watch cache, so there
// is no socket, no TLS and no compression. By watch-list is both sides' default; by list both ask for resourceVersion
// 0 and get one page.
//
// Peak heap is the highest sum of heap objects, garbage that was not collected yet included, sampled every
// millisecond; retained is what a collection leaves while the informer lives. Both are above what there was before.
//
// Both sides are made to ask for JSON. Left to themselves, both would ask for protobuf for built-in kinds, which is
// another matter: custom resources have none.
//
// # event, event-10, burst, burst-10
//
// MODIFIED events of decoded objects that round a thousand Pods, from the channel of the watch to 1 or 10 handlers.
// One at a time: the next event is sent when all handlers have seen this one. In a burst: as fast as the informer
// reads. Both read the same buffered channel; over HTTP, client-go has one more goroutine and an unbuffered channel
// before it. So that no events are merged for a handler that lags in a burst, informer-gen's threshold is set to
// Never; client-go never merges.
//
// # store, readers
//
// Store and Snapshot against cache.Indexer, without informers around them: indexes by namespace and by node, 100 Pods
// on a node. Updates are published one by one (Store.Update, Indexer.Update) or by the hundred (Store.Update,
// Transaction), as informers on both sides do with what came together. The time is that of the CPU, the collector's
// part included, because these loops have one goroutine. Get and list go through the listers; visits take the cheapest
// public way (iterators; List and ByIndex of the Indexer). Overhead is the heap that a filled store adds to objects
// that exist anyway; the second figure is taken after each object was replaced by a newer one once.
//
// For readers, one goroutine updates as fast as it can while 8 others list everything by lister in a loop.
//
// # stall
//
// A handler hangs in its first OnUpdate while 10 objects are updated 300,000 times; another handler of the same
// informer goes on. Heap growth is what a collection leaves, over what there was when it began to hang. Then it goes
// on, and must learn the last state.
//
// # late
//
// A handler is added to an informer that has 100,000 objects and another handler. When the late one sees its first
// object, one event is sent: how long until the other handler sees it.
//
// # idle
//
// 100 informers without handlers, over sources that say nothing, then 100 handlers on one of them: goroutines, and
// heap plus stacks in use, for each.
package main
