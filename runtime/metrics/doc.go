// SPDX-License-Identifier: Apache-2.0

// Package metrics is the interface between informers and a monitoring system: the objects an
// informer holds, its events and failures, and how its handlers keep up. Package prometheus below
// it implements it; for any other system, implement [Provider]. Work queues, controllers,
// elections, rings and watch caches have their own interfaces: [QueueProvider],
// [ControllerProvider], [ElectionProvider], [RingProvider] and [CacheProvider]. This package
// imports only the standard library.
//
// An informer gets its Provider by the option informer.WithMetrics, of the informer or its factory.
// If it also implements the other interfaces, controllers that watch the informer and the factory's
// manager use it, too. Without a Provider an informer counts nothing, and reads no clock for
// metrics. With one, an event costs some tens of nanoseconds more, and no memory.
//
// # States and recorders
//
// An informer has some values anyway. The provider reads them, with totals, as an [InformerState]
// or a [HandlerState] when it needs them. The informer doesn't keep durations: it passes them to an
// [InformerRecorder] or a [HandlerRecorder] when they end.
//
// # Ordering and blocking
//
// An informer calls Provider.BeginInformer when a run begins, before it reads from the server, and
// Close when the run has ended. In between it calls BeginHandler for each registration that gets
// events. It closes the handler's recorder when the registration is removed or the run ends, and
// all of them before its own recorder. The next run calls BeginInformer again; the informer's
// totals continue.
//
// Recorders are called between events, so their methods must neither block nor panic, and should
// not allocate memory.
//
// The functions that read a state take the informer's locks briefly. Don't call them while you hold
// a lock that a Begin function, a Close function or a recorder waits for. They may be called at any
// time, even after Close.
//
// # Goroutines
//
// This package has none. Several goroutines of an informer call recorders concurrently: those that
// read the source, apply the results, and call handlers. A handler's recorder is called by one
// goroutine at a time, the one that calls the handler. Any goroutine may call the functions that
// read a state.
package metrics
