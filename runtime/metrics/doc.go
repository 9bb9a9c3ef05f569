// SPDX-License-Identifier: Apache-2.0

// Package metrics is what an informer tells about itself to a monitoring system: how many objects
// it holds, what arrives, what fails, and how its handlers keep up. Package prometheus below it is
// an implementation; any other system is served by implementing [Provider]. This package imports
// the standard library only.
//
// An informer gets its Provider by the option informer.WithMetrics. Without one it counts nothing,
// and asks for the time no more often than it needs it itself. With one, an event costs it some
// tens of nanoseconds and no memory.
//
// # Two ways
//
// What an informer knows anyway is read when somebody asks for it: [InformerState] and
// [HandlerState] hold such values, and totals. What would be lost by then, which is how long
// something took, is passed on when it happens, to an [InformerRecorder] or a [HandlerRecorder].
//
// # Ordering and blocking
//
// An informer calls Provider.BeginInformer when a run begins, before anything is read from the
// server, and Close when the run has ended. In between it calls BeginHandler for each registration
// that gets events, and closes what that returned when the registration is removed or the run ends;
// all of them are closed before the informer's own recorder. An informer that runs again begins
// again, with totals that go on from where they were.
//
// Recorders are called between events, so their methods must neither block nor panic, and should
// not allocate memory.
//
// The functions that read a state take the informer's locks for a moment. They must not be called
// while holding a lock that a Begin function, a Close function or a recorder waits for. They may be
// called at any time, also after Close.
//
// Less formally: begin, anything, close. Don't hold your own lock while you read a state.
//
// # Goroutines
//
// This package has none. Recorders are called by several goroutines of an informer at once: those
// that read the source, those that apply what was read, and that of each handler, which is the only
// one to call the handler's recorder. The functions that read a state may be called by any
// goroutine.
package metrics
