// SPDX-License-Identifier: Apache-2.0

// Package metrics has the interface between informers and a monitoring system: how many objects an
// informer holds, what arrives, what fails, and how its handlers keep up. Package prometheus below
// it implements it; for any other system, implement [Provider]. Work queues have an interface of
// their own, [QueueProvider], and so have controllers, [ControllerProvider], and watch caches,
// [CacheProvider]. A provider reads a [QueueState], durations included, a [ControllerState] or a
// [CacheState] whenever it needs one. This package imports the standard library only.
//
// An informer gets its Provider by the option informer.WithMetrics. Without one it counts nothing,
// and doesn't read the clock for metrics. With one, an event costs some tens of nanoseconds more,
// and no memory.
//
// # Two ways
//
// The provider reads values that an informer has anyway when it needs them: [InformerState] and
// [HandlerState] have such values, and totals. The informer passes on durations, which it doesn't
// keep, when they end: to an [InformerRecorder] or a [HandlerRecorder].
//
// # Ordering and blocking
//
// An informer calls Provider.BeginInformer when a run begins, before it reads from the server, and
// Close when the run has ended. In between it calls BeginHandler for each registration that gets
// events. It closes the handler's recorder when the registration is removed or the run ends; all of
// them are closed before the informer's own recorder. An informer that runs again calls
// BeginInformer again; its totals continue from their last values.
//
// Recorders are called between events, so their methods must neither block nor panic, and should
// not allocate memory.
//
// The functions that read a state take the informer's locks for a moment. A provider must not call
// them while it holds a lock for which a Begin function, a Close function or a recorder waits. They
// may be called at any time, also after Close.
//
// In short: begin, any calls, close. Don't hold your own lock while you read a state.
//
// # Goroutines
//
// This package has none. Several goroutines of an informer call recorders at once: those that read
// the source, those that apply what was read, and those that call handlers. A handler's recorder is
// called by one goroutine at a time, the one that calls the handler. The functions that read a
// state may be called by any goroutine.
package metrics
