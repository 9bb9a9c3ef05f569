// SPDX-License-Identifier: Apache-2.0

// Watchcache measures server/watchcache and its HTTP handler beside the cacher of k8s.io/apiserver
// and a whole API server, and prints a table with the ratios and the marks to reach. A row that
// misses its mark ends with the word short.
//
//	go run ./bench/watchcache                    all of it, in some minutes
//	go run ./bench/watchcache --only list-of-all -n 1
//	go run ./bench/watchcache --md               docs/watchcache.md as well
//	go run ./bench/watchcache --only deliver --side informer-gen --cpuprofile cpu.out
//
// # How
//
// Each run of each side is a process of its own; the sides take turns. CPU time is user and system
// time by getrusage, of the whole process while the work lasts. So it includes the collector's
// part, and the part of the program that makes the changes. Heap and stacks are measured after two
// collections.
//
// # The sides
//
// deliver and idle have a watchcache.Cache, and a cacher.Cacher as set up by an API server for a
// custom resource: objects are maps (unstructured.Unstructured), and no field has an index. Below
// each is a storage in memory that delivers, as production storages do, decoded objects to the
// cacher, and JSON with its parsed metadata to ours. These are made before the work is measured.
// Each event is written, as the JSON of a watch, to a writer that discards it: by a Receive
// function of ours, and by the API server's own handler (handlers.WatchServer).
//
// list-of-all has the handler of package serve over the same watch cache, and the handler of this
// project's devserver, which is k8s.io/apiextensions-apiserver with its filters and an etcd in the
// same process. Both are called without a network, and write to a writer that discards.
//
// # The data
//
// Widgets are custom resources of 1.25 KB with labels, managedFields, a spec with a declared field
// (selectableFields), and a status.
//
// # The rows
//
// deliver: changes come at a steady rate, one object each, and all watchers select all of them. The
// CPU time is divided by the number of events delivered to watchers. Before, 20,000 changes have
// passed through the cache, so that the cacher's history and the channels of its watchers are as
// large as in a server that has run for a while. idle: the memory of a watcher that has read
// everything, including its reader: a function on our side, a goroutine with the cacher.
package main
