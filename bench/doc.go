// SPDX-License-Identifier: Apache-2.0

// Bench measures informer-gen's runtime beside client-go's, and prints a table with the ratios and
// the marks that informer-gen must reach. A row that misses its mark ends with the word short.
//
//	go run ./bench                       all of it; with -n 3 it takes 14 minutes on two cores
//	go run ./bench --only event,sync/pods -n 1
//	go run ./bench --md                  docs/benchmarks.md, the README's rows and picture
//	go run ./bench --md --only queue     the same, for the rows of some benchmarks
//	go run ./bench --only sync/pods/list --side informer-gen --cpuprofile cpu.out
//	go test ./bench -run '^$' -bench HTTP/sync/pods/list/informer-gen -memprofile mem.out
//
// # How
//
// Each run of each side is a process of its own: it prepares, runs once, and ends. The sides take
// turns, and none always comes first. The table has the medians of the runs (-n, 5), and beside
// them half of the distance between the least and the greatest, as a part of the median. Wall time,
// CPU time (user and system, by getrusage), bytes allocated and allocations are those of the whole
// process while it runs, so the collector's work is in them, and the program's own part, which is
// the same on all sides. A collection comes before the clock starts. GOGC and GOMAXPROCS are the
// defaults.
//
// After each run the program compares what the sides have seen, and fails if they differ: how many
// objects they hold, how often their handlers were called, and hashes of names, UIDs and versions
// in both; in the first run of each side of a benchmark over HTTP, also of the JSON of all objects,
// so that it doesn't matter which parts objects share.
//
// client-go runs with its defaults: its default feature gates (watch-list, in-order, batched),
// tools/cache's SharedIndexInformer with an index by namespace (the one that its factories give
// it), typed clients made of the parts that generated ones are made of. informer-gen runs with its
// defaults, too, with the exceptions that are named below. Handlers are the same functions on all
// sides; casts and adapters for calling them count as the side's own work. controller-runtime's
// cache is client-go's and copies the objects that are read; it takes part where that makes a
// difference. Lower bounds of the machine are beside the rows: they do only the work that their
// name says.
//
// Ratios are informer-gen's value over client-go's. An "own" mark is for informer-gen's value
// alone.
//
// # The server
//
// The benchmarks over HTTP have one more process, which serves bytes from files over loopback
// HTTP/1.1 and is not counted, though it shares the machine's cores with the side that is measured.
// The bytes are rendered before. It answers as a kube-apiserver does: a watch-list is a stream of
// ADDED events and a bookmark, then the watch goes on; a list is whole at resourceVersion 0, as
// from a server's watch cache, and in pages of the 500 objects that both sides ask for where it is
// said to be paged, as from a server without one. There is no TLS and no compression, and writes
// are large, which is the same for all sides and leaves more of the time to them.
//
// # The data
//
// It is the same in each run. Package data makes it, with no code of the decoders.
//
// Pods are those of 200 workloads (ReplicaSets) of 1 to 2,000 replicas by a law of Zipf: see
// replicasOf. They come as etcd has them, by namespace and name, in lists and in watch-lists, so
// that the Pods of one workload follow one another. Each has 4.9 KB of JSON in the order of the
// fields of the Go types: two containers, the projected token volume, default tolerations, mounts
// and settings, four conditions, two container statuses, and two entries of managedFields, which
// have 0.9 KB, less than in most clusters. Each Pod has its own name, UID, resourceVersion, node
// and IPs (50 Pods are on a node, and have its IP), every timestamp, container IDs, the name of the
// token's volume, which each container mounts, and in managedFields the times and in the kubelet's
// entry the IP. Each workload has its own namespace, owner, labels, annotations, images and their
// digests, environment, resources, port, probe, service account, and managedFields of the template.
// A second revision of a Pod is what the kubelet writes after a container was restarted.
//
// Custom resources are half Certificates of cert-manager, of 2.4 KB, and half HTTPRoutes of the
// Gateway API, of 1 to 4 rules and 2.5 KB on average, in 100 namespaces, with statuses and two
// entries of managedFields. Their JSON has sorted names, because an API server keeps them as maps.
// A team, an issuer or a gateway is shared by many; names, hosts, paths, backends, times,
// generations and versions are each one's own.
//
// "Nothing repeats" is the same Pods with every string different from all others, in the same
// object and in all: values, keys of maps, namespaces, times, quantities, and names in
// managedFields. Strings keep their lengths if they have six bytes or more.
//
// # sync
//
// The initial sync from the wire: from starting a new informer until its handler's OnAdd was called
// for the last object. Of custom resources there are two informers, which start together. client-go
// has a transform that sets managedFields to nil, as its users do; informer-gen's source drops them
// (source.Options.DropManagedFields). JSON is asked for by both.
//
//   - peak heap: the highest sum of heap objects, garbage that is not collected yet included, above
//     what there was before the informer was made, by a sample of runtime/metrics each millisecond
//   - heap retained: what two collections leave while the informer lives, above the same. On our
//     side the decoder's tables of shared parts are in it. It is what a cache needs in steady state
//   - peak heap over retained heap: how far the sync goes beyond that
//
// Beside it are the costs of reading the bytes of the same answer, and of splitting them into JSON
// values with jsontext.
//
// # retained
//
// The same with managedFields kept on both sides, by watch-list.
//
// # procs
//
// The same sync with GOMAXPROCS 1 and 2, which shows the effect of decoding in parallel. With 1,
// the server still has the other core.
//
// # protobuf
//
// The same Pods in protobuf, which both sides ask for by default if a kind is built in.
//
// # nothing-repeats
//
// The same Pods with no string twice.
//
// # projection
//
// A program reads a few fields. Our informer holds a projection, a type with these fields;
// client-go's holds the whole objects, from the same server. pods and protobuf: name, namespace,
// labels, node, phase and IP, beside the UID and resourceVersion that every object has. crs: the
// name of a Certificate's secret, and the types and statuses of its conditions. endpoints: what
// examples/endpoints-controller reads of Pods. What is compared between the sides are these fields.
// informer-gen.yaml declares the projections, and bench/generated has them.
//
// metadata: both sides ask the server for the metadata of Pods, in protobuf as both do by default:
// client-go's metadatainformer, and an informer of PartialObjectMetadata, which has all metadata
// but managedFields.
//
// # transform
//
// The same sync with a transform function on both sides: client-go's sets managedFields to nil, as
// above. Ours does the same, and the source keeps them; or it returns its argument, and the source
// drops them. Beside it stands our side without a transform.
//
// # kept-keys
//
// An informer syncs, its handler keeps the types.NamespacedName of each object, and the informer is
// dropped: the heap that two collections leave then, for each key or in all. The large ConfigMaps
// come from a server in memory.
//
// # relist
//
// An informer has synced, 1 % of the objects change, and the watch ends with 410: until the handler
// got the last difference. The clock starts with the informer's first request for all objects after
// that, because client-go waits for about a second before. CPU time and allocations count from the
// end of the watch. Extra peak heap is above what collections have left before it. client-go's
// handlers are called for objects that have not changed too, and ours must not; a handler that sees
// the same resourceVersion twice does nothing here.
//
// # http-events
//
// MODIFIED events of Pods at random on one watch, each of a whole Pod of which a container was
// restarted, sent as fast as they are read, until the handler got the last one. So that none are
// merged for a handler that lags, informer-gen's threshold is set to Never; client-go never merges.
//
// # event
//
// MODIFIED events of decoded objects that round a thousand Pods, from where the decoder returns to
// where 1, 3 or 10 handlers have them. One at a time: the handler that is the last to get an event
// lets the decoder return the next. In a burst: the decoder returns as fast as it is called. Each
// event brings an object that the informer has not seen; these are made beforehand, 10,000 at a
// time, outside of what is measured. client-go's decoder stands behind watch.StreamWatcher, as its
// typed clients have it; ours calls back on the goroutine that decodes, as our HTTP source does,
// and says in Event.More whether another event has arrived. So that no events are merged for a
// handler that lags in a burst, informer-gen's threshold is set to Never; client-go never merges.
// There are only a thousand Pods because these rows measure the path of an event; the rows of
// update show the cost of a store that is larger than the CPU's caches. Beside: the decoding
// goroutine puts the object into a Go map and calls the handlers, or hands it over to one other
// goroutine, which calls them.
//
// # adapter
//
// Programs that are written to another framework, over its own informers and over ours: managers
// and caches of controller-runtime (package adapter/controllerruntime), and a SharedInformerFactory
// of client-go (package adapter/clientgo). Client-go's column has the framework as it is. Caches
// have the transform cache.TransformStripManagedFields. Factories have none, so that managedFields
// are kept, except in the row that says so. No informer has handlers but those of controllers.
//
// sync: from making the cache or the factory until the informers have synced. reads: of Pods, by a
// client of the cache or by generated listers, which make no copies; the keys are in no order. Each
// is repeated for two seconds, with several collections, and ten times at least.
//
// reconcile: the server changes one Pod after the other, 2 ms apart, and notes when it writes each
// event. A controller of one worker reads the Pod by the manager's client. The latency is from the
// server's note to the call of Reconcile in which the change is seen first; the CPU time and the
// allocations are those of the whole process, with the controller's own part.
//
// start: a program begins that has 50 built-in kinds of 10 objects each: a manager with a
// controller of each kind, from making it until each object was reconciled, or a factory, from
// making it until its informers have synced. Heap and stacks are what collections leave then, above
// what there was before, with what decoders and clients keep for all kinds of a process.
//
// # update, get, readers, list
//
// Store, Snapshot and lister against cache.Indexer and lister, without informers around them, with
// 100,000 Pods that have what indexes, selectors and loops look at. No two Pods share a part: label
// maps, owners and containers are each Pod's own, as client-go has them. (Our decoder lets Pods of
// one workload share them, which helps caches; the row "shared labels" shows how much.) Objects are
// updated and read in no order, and lists are asked after each object was replaced once, so that
// objects lie in memory as in a cache that has lived for a while. Times of loops with one goroutine
// are CPU time, the collector's part included.
//
// update: one object is replaced and published at once (Store.Update, Indexer.Update); its index
// keys stay the same, except in the last rows, where the node changes. Index functions are the same
// on both sides and return the value of a field: node, owners' UIDs, images of both containers,
// service account, phase. client-go's are written by hand, as IndexFuncs that return these keys; in
// the rows "by controller-runtime's IndexField" they are those that controller-runtime's cache
// makes of the same functions, which have two keys for each value, one in the namespace and one in
// all. Then both sides answer the same questions, by key in all namespaces and in one; the mark for
// five indexes is for that row.
//
// get: by namespace and name through the Pod lister, in client-go's generated form and ours
// (Pods(namespace).Get(name)), with keys in memory of their own. Contended, 8 goroutines read while
// another updates as fast as it can: the time is that of the clock over the Gets of all.
//
// readers: a goroutine updates as fast as it can while 1 or 8 loop over all objects and look at
// each one's node, by the cheapest public way: an iterator over a snapshot, Indexer.List and a
// loop.
//
// list: as a slice, the result of the lister (for the index: Index.List, Indexer.ByIndex) is not
// read any further; in a loop, each object is read, by the cheapest public way. A question is asked
// twice before it counts; how long the first answer takes is in a row of its own, because a store
// may remember what it finds. controller-runtime's cache copies what it returns. A Go slice is what
// is wanted, copied or looped over, with nothing to find.
//
// # growth
//
// The same is done 9,000 times to a store of 20,000 Pods, and to as many Pods of one of 1,000,000:
// the cost in the large store divided by the cost in the small one. The Pods have a name, one of
// 100 namespaces, of which each has Pods in all parts of the store, a node that 100 of them are on,
// and one of 100 service accounts, and node and account are indexed. One is deleted, or moves to
// another node and account, and is published at once. Or a state of the store is held while 9,000
// Pods are replaced, then the Pods of a node are looked up in it; client-go, which has no such
// states, looks them up in the newest.
//
// The first time, each of the 9,000 writes is about a Pod of its own. A large store has hardly
// anything of it in the CPU's caches, and waits for memory, as client-go's does. Repeated, all are
// about the same 300 Pods, in 30 rounds after one that doesn't count: what grows then is the work.
//
// # overhead
//
// The heap that a filled store adds to objects that exist anyway, filled and after each object was
// replaced by a newer one: with an index by namespace, and how much one more index adds in which
// each object has its own key (its UID).
//
// # late
//
// A handler is added to an informer that has 500,000 objects and another handler, to which an event
// is sent again and again, the next 100 µs after it was seen. The longest time that one of these
// events took.
//
// # relist-block
//
// A watch over 100,000 Pods ends with 410, and the list that follows has a change of each of them.
// While ten handlers are told, another one is added and removed again and again, and the informer
// is asked for its Status and to await a version that it has; client-go's for HasSynced and its
// last version. The longest call of each. What is allocated is the difference between the same with
// one handler and with ten, without those calls, by nine.
//
// # stall
//
// A handler hangs in its first OnUpdate while 10 objects are updated 300,000 times; another handler
// of the same informer goes on. Heap growth is what a collection leaves, over what there was when
// it began to hang. Then it goes on, and must get the last state.
//
// # idle
//
// 100 informers with one object and no handler, or 10, over sources that send nothing and have
// neither goroutines nor buffers: goroutines, and heap plus stacks in use, for each informer.
//
// # empty
//
// 200 informers of Pods over a transport in memory, whose server has no Pods: it answers a
// watch-list with the bookmark that ends the initial events, and says nothing more. Goroutines, and
// heap plus stacks in use, for each informer; then the same for each of 200 namespaces, which are
// one informer of informer-gen's and 200 of client-go's. Memory that the first informers of a
// process allocate for all is not counted.
//
// # queue
//
// Work queues of keys of two strings, with metrics on all sides: ours with
// runtime/metrics/prometheus, client-go's rate-limiting queue with component-base's,
// controller-runtime's priority queue with its own. Times are CPU time of the process, by the keys
// that were handed out.
//
// cycle: one goroutine adds a thousand keys, then gets and ends each. loop: a thousand keys go
// round: each worker ends a key, gets another, and adds the first one again. burst: keys that are
// not queued are added at once while the workers wait, three times. idle: an empty queue.
//
// # controller
//
// Keys that are added in a burst, and the workers of a controller that call a function which does
// nothing: from the first add to the last return. Ours has its metrics on, controller-runtime's
// (unmanaged, its default queue) has its own, and both have a logger that drops all. client-go has
// no such loop: beside it stands the one that sample-controller has, by hand over the rate-limiting
// queue, without a context for each item and without a recovery from panics.
//
// neighbours: three controllers of one worker each in one process get a key every millisecond. One
// does nothing, one panics at every second key, one never returns from its first. The times are
// those of the first one, from adding a key to the end of its reconcile, with and without the
// others, in turns.
package main
