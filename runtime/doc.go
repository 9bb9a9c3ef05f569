// SPDX-License-Identifier: Apache-2.0

// Package runtime is the root of the informer engine. It has no code, only this overview.
//
// The path of an event, from the API server to your code:
//
//	API server ─HTTP list/watch─▶ source ─▶ reflector ─▶ deltafifo ─▶ informer ─▶ store (+ indexes)
//	                              (decode)   (states)     (stream      (apply a      │  └▶ lister reads
//	                                                       order)       batch)       │
//	                                                                                  ▼
//	                                                                  subscriptions ─▶ handlers ─▶ your code
//
// [github.com/informer-gen/informer-gen/runtime/source] turns HTTP responses into typed objects, one by one.
// [github.com/informer-gen/informer-gen/runtime/reflector] decides when to list, when to watch and when to wait.
// [github.com/informer-gen/informer-gen/runtime/deltafifo] hands the stream over to another goroutine, in order.
// [github.com/informer-gen/informer-gen/runtime/informer] applies it batch by batch and calls the handlers.
// [github.com/informer-gen/informer-gen/runtime/store] keeps the objects and their indexes, as immutable snapshots.
// [github.com/informer-gen/informer-gen/runtime/lister] reads them by name, namespace and selector.
// [github.com/informer-gen/informer-gen/runtime/object] defines objects and their keys for all of these.
//
// Data goes one way. Only informer imports all of the others and connects them: reflector knows source but not the queue
// that it fills, deltafifo and store know neither end of the stream, and lister knows store only. All of them know object.
//
// # Goroutines
//
// An informer that is not running has none. While it runs it has these, and Run returns after all of them have ended:
//
//	goroutine        | started by                            | ends when
//	-----------------+---------------------------------------+----------------------------------------------------
//	apply            | the caller of Run, or Factory.Start   | the context of Run is done and all other goroutines
//	                 | (it is Run itself)                    | of this informer have ended
//	reflector        | Run                                   | the context of Run is done; that cancels an HTTP
//	                 |                                       | request in flight
//	one per handler  | Run, or AddEventHandler while it runs | the context of Run is done, or Remove was called; a
//	                 |                                       | running callback returns first
//
// So an informer without handlers has two, whether it runs by itself or in a Factory.
//
// # Types
//
// Everything a user sees is typed. The engine itself is compiled once, over the interface object.Object, in
// internal/table and internal/engine; store and informer turn that interface into a type parameter again. So one more
// kind costs a program a few one-line methods and not another engine.
package runtime
