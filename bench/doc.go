// SPDX-License-Identifier: Apache-2.0

// Bench measures informer-gen's runtime beside client-go's, and prints a table with the ratios and
// the marks that informer-gen must reach (bench/harness/marks.go). A row that misses its mark ends
// with the word short.
//
//	go run ./bench                       all of it
//	go run ./bench --only event,sync/pods -n 1
//	go run ./bench --md                  docs/benchmarks.md and the README's rows
//	go run ./bench --only sync/pods/paged-list --side informer-gen --cpuprofile cpu.out
//
// The commands generator, watchcache and shard below it measure these; soak looks for leaks.
//
// # How
//
// Each run of each side is a process of its own: it prepares, runs once, and ends. The sides take
// turns, and none always comes first. The table has the medians of the runs (-n, 5), and beside
// them half of the distance between the least and the greatest, as a part of the median. Wall time
// and CPU time (user and system, by getrusage) cover the whole process while it runs. So they
// include the collector's work, and the program's own part, which is the same on both sides. A
// collection comes before the clock starts. GOGC and GOMAXPROCS are the defaults.
//
// After each run the program compares the two sides' results, and fails if they differ: how many
// objects they hold, how often their handlers were called, and hashes of names, UIDs and versions
// in both; in the first run of each side of a benchmark over HTTP, also of the JSON of all objects.
//
// client-go runs with its defaults: its default feature gates (watch-list, in-order, batched),
// tools/cache's SharedIndexInformer with an index by namespace (given to it by its factories),
// typed clients. informer-gen runs with its defaults, too, with the exceptions named below.
// Handlers are the same functions on both sides; casts and adapters for calling them count as the
// side's own work.
//
// # The server
//
// The benchmarks over HTTP have one more process, which serves bytes from files over loopback
// HTTP/1.1 and is not counted, though it shares the machine's cores with the measured side. It
// answers as a kube-apiserver does: a watch-list is a stream of ADDED events and a bookmark, then
// the watch goes on; a list is in pages of the 500 objects that both sides ask for, as from a
// server without a watch cache. There is no TLS and no compression.
//
// # The data
//
// Package data makes it, the same in each run.
//
// Pods belong to 200 workloads (ReplicaSets) of 1 to 2,000 replicas by Zipf's law. They come in
// etcd's order, by namespace and name, so the Pods of one workload follow one another. Each has 4.9
// KB of JSON: two containers, the projected token volume, default tolerations, mounts and settings,
// four conditions, two container statuses, and two entries of managedFields, which have 0.9 KB,
// less than in most clusters. Each Pod has its own name, UID, resourceVersion, node and IPs, every
// timestamp, container IDs, the name of the token's volume, and in managedFields the times and the
// IP. Each workload has its own namespace, owner, labels, annotations, images and their digests,
// environment, resources, port, probe, service account, and managedFields of the template. A second
// revision of a Pod has a restarted container.
//
// Custom resources are half Certificates of cert-manager, of 2.4 KB, and half HTTPRoutes of the
// Gateway API, of 1 to 4 rules and 2.5 KB on average, in 100 namespaces, with statuses and two
// entries of managedFields. Their JSON has sorted names, because an API server keeps them as maps.
//
// "Nothing repeats" is the same Pods with every string different from all others.
//
// # sync, projection
//
// The initial sync from the wire: from starting a new informer until its handler's OnAdd was called
// for the last object. client-go has a transform that sets managedFields to nil, as its users do;
// informer-gen's source drops them. Both ask for JSON, except where the name says protobuf. Peak
// heap is the highest sum of heap objects, including garbage not collected yet, by a sample each
// millisecond; heap retained is the heap after two collections while the informer lives; both are
// above the heap before the informer was made. On our side they include the decoder's tables of
// shared parts.
//
// projection: our informer holds a projection with six fields (name, namespace, labels, node, phase
// and IP); client-go's holds the whole objects, from the same server.
//
// # restart
//
// An informer of ours that begins with the checkpoint of an earlier one, beside one without, until
// the handler got the changes since.
//
// # relist
//
// An informer has synced, 1 % of the objects change, and the watch ends with 410: until the handler
// got the last difference. The clock starts with the informer's first request for all objects after
// that, because client-go waits for about a second before. Extra peak heap is above the heap after
// collections before it.
//
// relist/all: the list that follows has a change of each object. While ten handlers are called,
// another one is added and removed again and again, and the informer is asked for its Status and to
// await a version that it has; client-go's for HasSynced and its last version. The rows are the
// longest calls.
//
// # event
//
// event/json and event/protobuf: MODIFIED events of Pods at random on one watch, each of a whole
// Pod with a restarted container, sent as fast as they are read, until the handler got the last
// one. So that none are merged for a handler that lags, informer-gen's threshold is set to Never;
// client-go never merges.
//
// event/1, 3 and 10: MODIFIED events of decoded objects that round a thousand Pods, from the
// decoder's return until 1, 3 or 10 handlers have them. The last handler to get an event lets the
// decoder return the next. Each event brings an object new to the informer, made beforehand.
//
// # stall
//
// A handler hangs in its first OnUpdate while 10 objects are updated 300,000 times; another handler
// of the same informer goes on. Heap growth is the heap after a collection, above the heap at the
// start of the hang. Then the handler goes on, and must get the last state.
//
// # update, get, readers, index, list, growth
//
// Store, Snapshot and lister against cache.Indexer and lister, without informers around them, with
// 100,000 Pods that share no parts. Objects are updated and read in no order. update: one object is
// replaced and published at once; its index keys stay the same. get: by namespace and name through
// the Pod lister, with keys in memory of their own; contended, 8 goroutines read while another
// updates as fast as it can, and the time is the clock's over the Gets of all. readers: a goroutine
// updates as fast as it can while 8 loop over all objects by the cheapest public way. index: the
// heap of an index with a different key for each object, after each object was replaced once. list:
// the slice returned by a lister.
//
// growth: 9,000 updates of two index keys, then 9,000 deletes, each published at once, in a store
// of 20,000 Pods, and of as many Pods of one of 1,000,000: the bytes allocated in the large store
// divided by those in the small one.
//
// # empty-namespace
//
// 200 namespaces without Pods over a transport in memory: one informer of informer-gen, and 200 of
// client-go. Memory that the first informers of a process allocate for all is not counted.
//
// # queue, controller
//
// queue: a thousand keys of two strings go round: each of four workers ends a key, gets another,
// and adds the first one again; both have metrics, ours those of runtime/metrics/prometheus,
// client-go's component-base's. controller: keys are added in a burst, and four workers of a
// controller call a function that does nothing, beside controller-runtime's (unmanaged, its default
// queue): from the first add to the last return.
//
// # adapter
//
// Caches of controller-runtime over its own informers and over ours (package
// adapter/controllerruntime), with the transform cache.TransformStripManagedFields and no handlers.
// Each read is repeated for two seconds, with several collections, and ten times at least.
package main
