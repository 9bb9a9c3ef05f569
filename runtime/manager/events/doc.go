// SPDX-License-Identifier: Apache-2.0

// Package events records Kubernetes Events: short messages about objects, which people read by
// "kubectl describe" and "kubectl events".
//
// A manager has a [Recorder] for each of its controllers, as Context.Recorder, and runs it. Another
// program makes one with [New], and runs it with [Recorder.Run].
//
// # Repeated Events
//
// Events with the same type, reason, action and objects are one, with a count and the first note.
// The first is sent at once, a changed count once a minute. After six minutes without a repetition,
// the next one is a new Event.
//
// # Delivery
//
// Recording never waits. Run sends the Events in the order in which they were recorded, one at a
// time. It retries one that the server could not take, with a growing delay, up to 10 times. A
// refused one is logged and dropped. While 1,000 Events wait, further ones are dropped, and a line
// in the log has their number. So a controller must not depend on its Events.
//
// The Events are of events.k8s.io/v1. The program needs the right to create and patch events of the
// API group events.k8s.io, in the namespaces of its objects, and in "default" for cluster-scoped
// ones.
//
// # Goroutines
//
// Run works on its caller's goroutine, and starts no others.
package events
