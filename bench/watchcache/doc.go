// SPDX-License-Identifier: Apache-2.0

// Watchcache measures server/watchcache and its HTTP handler beside the cacher of k8s.io/apiserver
// and a whole API server, and prints a table with the ratios and the marks that must be reached. A
// row that misses its mark ends with the word short.
//
//	go run ./bench/watchcache                    all of it, in 12 minutes on two cores
//	go run ./bench/watchcache --only http -n 1 --load 2s
//	go run ./bench/watchcache --md               docs/watchcache.md as well
//	go run ./bench/watchcache --only fresh --side informer-gen --cpuprofile cpu.out
//
// # How
//
// Each run of each side is a process of its own; the sides take turns. CPU time is user and system
// time by getrusage, of the whole process while the work lasts. So the collector's part is in it,
// and the part of the program that makes the changes, which is the same on both sides. Heap and
// stacks are what two collections leave. The table has the medians of the runs (-n, 2), and beside
// them half of the distance between the least and the greatest.
//
// # The sides
//
// In process: a watchcache.Cache, and a cacher.Cacher as an API server sets it up for a custom
// resource: objects are maps (unstructured.Unstructured), and no field has an index. Below each is
// a storage in memory that hands over, as the storages of production do, objects that are decoded
// for the cacher, and JSON with its parsed metadata for ours. These are made before the work is
// measured. "Bytes written" means that each event is written, as the JSON of a watch, to a writer
// that discards it: by a Receive function of ours, and by the API server's own handler
// (handlers.WatchServer).
//
// Over HTTP: package serve over the same watch cache, and the devserver of this project, which is
// k8s.io/apiextensions-apiserver with its filters and an etcd in the same process. Both serve plain
// HTTP/1.1 over loopback. Clients are in another process, which is not counted, though it shares
// the machine's cores. Answers are not compressed.
//
// # The data
//
// Widgets are custom resources of 1.25 KB with labels, managedFields, a spec with a declared field
// (selectableFields), and a status. Package widget makes them.
//
// # deliver, http/deliver
//
// Changes come at a steady rate, one object each, and all watchers select all of them. The CPU time
// is divided by the events that watchers got. Before, in process, 20,000 changes have passed
// through the cache, so that the cacher's history and the channels of its watchers have grown to
// what they are in a server that has run for a while. Over HTTP the same changes are made once more
// without watchers, and their cost is subtracted: a write to an API server costs as much as a
// hundred deliveries.
//
// A watcher that a cache ends although it reads is counted. Its client would have to watch again,
// or to list.
//
// # fresh
//
// The same, without earlier changes, at ten times the rate: the state of a server after a start.
//
// # slow
//
// The latency is the time from before the change until a watcher has written the event, of each
// 16th watcher. Rounds without and with five more watchers that never read alternate; the median of
// the rounds' 99.9th percentiles is shown.
//
// # idle, http/idle
//
// What a watcher takes that has read everything: in process with what reads it, which is a function
// on our side, and a goroutine with the cacher; over HTTP with its connection on the server's side.
//
// # fields
//
// Each watcher selects one value of a declared field. All widgets are changed in turn, the next one
// when the watcher of the last one has written its event. With one watcher, all widgets have its
// value.
//
// # http/read
//
// One client asks ten times, one time after the other. In the last row many clients ask at once,
// each for a watch that begins with all objects, until its bookmark; an API server gets a hundredth
// of them, because it would take minutes.
//
// # heap
//
// What the cache has added to the heap when it is filled, over the bytes of the objects' JSON.
package main
