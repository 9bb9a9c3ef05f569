// SPDX-License-Identifier: Apache-2.0

// Package runtime is the root of the informer engine. It has no code, only this overview.
//
// The path of an event, from the API server to your code:
//
//	API server ┄▶ source ─▶ reflector ─▶ deltafifo ─▶ controller loop ─▶ log ┄▶ your handlers
//	                                                     └─▶ table ─▶ store ─▶ lister ┄▶ you read
//
// ARCHITECTURE.md has the whole drawing. The controller loop, the change log and the table are
// internal; informer, store and lister are their typed interfaces.
//
// The packages on the path:
//
//   - [github.com/informer-gen/informer-gen/runtime/source] turns HTTP responses into typed objects
//   - [github.com/informer-gen/informer-gen/runtime/reflector] decides when to list, watch and wait
//   - [github.com/informer-gen/informer-gen/runtime/deltafifo] hands the streams over to one
//     goroutine, in order
//   - [github.com/informer-gen/informer-gen/runtime/informer] applies them batch by batch in that
//     goroutine, and calls each handler in a goroutine of its own
//   - [github.com/informer-gen/informer-gen/runtime/store] keeps the objects and their indexes, as
//     immutable snapshots
//   - [github.com/informer-gen/informer-gen/runtime/lister] reads them by name, namespace and
//     selector
//   - [github.com/informer-gen/informer-gen/runtime/object] defines objects and their keys for all
//     of these
//
// The others:
//
//   - [github.com/informer-gen/informer-gen/runtime/informer/factories]: informers sharing a
//     client, started and stopped together; the base of generated factories
//   - [github.com/informer-gen/informer-gen/runtime/reason]: the reasons for a failed list or watch
//   - [github.com/informer-gen/informer-gen/runtime/workqueue]: the queue between handlers and a
//     controller's workers
//   - [github.com/informer-gen/informer-gen/runtime/controller]: the loop around it
//   - [github.com/informer-gen/informer-gen/runtime/writer]: the writes of one resource
//   - [github.com/informer-gen/informer-gen/runtime/watch]: a watch that reconnects, for programs
//     without a store
//   - [github.com/informer-gen/informer-gen/runtime/metrics]: the interface to monitoring systems,
//     with an implementation for Prometheus below it
//   - [github.com/informer-gen/informer-gen/runtime/inspect]: a page showing the informers' state
//   - [github.com/informer-gen/informer-gen/runtime/manager]: the controllers of a process, with
//     leader election below it
//   - [github.com/informer-gen/informer-gen/server/watchcache]: the server's side of lists and
//     watches, with package serve below it for HTTP
//   - [github.com/informer-gen/informer-gen/testkit/sourcetest]: an API server in memory for tests
//   - [github.com/informer-gen/informer-gen/testkit/controllertest]: runs controllers over it until
//     they have nothing left to do
//
// Only informer connects the packages of the path, by its internal package engine: reflector knows
// source but not the queue it fills, deltafifo and store know neither end of the stream, and lister
// knows store only. All of them know object.
//
// # Ordering
//
// For one key, everything keeps the server's order: the store goes through the states of an object
// as the server did, and each handler gets the events in this order, each after the store has the
// change.
//
// In short: a handler is behind the store, and the store is behind the server. Neither goes back,
// and neither misses the latest state. Package informer has the exact rules, also between keys and
// for a handler that falls behind.
//
// # Blocking
//
// Reading blocks no goroutine and waits for none: a snapshot is one atomic load. Each stream has a
// goroutine that reads and decodes. One goroutine of the informer, the controller loop, applies
// their deltas, and waits for no reader. After a batch, it waits for lagging handlers: as long as
// they are quick, and at most 250 ms in all for a slow one. A full queue, of 1,024 changes, blocks
// the reading goroutines, which stop reading their connections until there is room. A handler that
// does not return blocks its own events, the Remove of its registration and the end of the
// informer, which has a deadline in informer.Lease.Release and factories.Factory.Shutdown; and
// once, for 250 ms, the loop; nothing else.
//
// # Goroutines
//
// A stopped informer has none, and package watch starts none: its callers' goroutines do the work.
// Package informer lists the goroutines of a running informer, and which of them call your code.
//
// # Types
//
// Users see only typed interfaces. The engine itself is compiled once, over the interface
// object.Object, in internal/table and below informer/internal; store and informer turn that
// interface into a type parameter again. So one more kind costs a program a few one-line methods,
// not another engine.
package runtime
