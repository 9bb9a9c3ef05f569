// SPDX-License-Identifier: Apache-2.0

// Package runtime is the root of the informer engine; it holds this picture and nothing else.
//
// The path of an event, from the API server to your code. Data goes one way, and each package knows only what
// stands to its left or below it:
//
//	API server ─HTTP list/watch─▶ source ─▶ reflector ─▶ deltafifo ─▶ informer ─▶ store (+ indexes)
//	                              (decode)   (states)     (stream      (apply a      │  └▶ lister reads
//	                                                       order)       batch)       │
//	                                                                                  ▼
//	                                                                  subscriptions ─▶ handlers ─▶ your code
//
// [github.com/informer-gen/informer-gen/runtime/source] turns HTTP answers into typed objects, one by one.
// [github.com/informer-gen/informer-gen/runtime/reflector] decides when to list, when to watch and when to wait.
// [github.com/informer-gen/informer-gen/runtime/deltafifo] hands the stream over to another goroutine, in order.
// [github.com/informer-gen/informer-gen/runtime/informer] applies it batch by batch and tells the handlers.
// [github.com/informer-gen/informer-gen/runtime/store] keeps the objects and their indexes, as immutable snapshots.
// [github.com/informer-gen/informer-gen/runtime/lister] reads them by name, namespace and selector.
// [github.com/informer-gen/informer-gen/runtime/object] names what they all hold.
//
// # Goroutines
//
// An informer that does not run has none. While it runs it has these, and its Run waits for all of them:
//
//	goroutine         | started by     | ends when
//	------------------+----------------+-------------------------------------------------------------
//	Factory's runner  | Factory.Start  | the informer's Run has returned; Shutdown waits for it
//	apply loop        | is Run         | the context is done
//	reflector         | Run            | the context is done; an HTTP request under way is cancelled
//	one per handler   | Run, or        | the context is done or the handler is removed, and the
//	                  | AddEventHandler| callback under way has returned
//
// # Types
//
// Everything a user sees is typed. The engine itself is compiled once, over the interface object.Object, in
// internal/table and internal/engine; store and informer are the two places where that interface becomes a type
// parameter again. So a kind more costs a program a few one-line methods and not another engine.
package runtime
