// SPDX-License-Identifier: Apache-2.0

// Package watch is for programs that wait for an event and keep no cache: commands, tests, scripts.
// [Retry] reads the changes of a collection after a version, over as many connections as needed,
// without gaps and repetitions. [Until] does so until all its conditions have been true.
//
// A watch is a request whose response is a stream of changes. The version is the resourceVersion of
// an object, a list or an event; a watch starts after one.
//
//	created, err := client.Create(ctx, job)       // is at version 42
//	watch.Until(ctx, jobs, "42", watch.Options{}, func(e source.Event[*Job]) (bool, error) { … })
//
// A program that needs all objects, or has no version to start from, needs an informer.
//
// # States
//
//	          accepted                  ended, or failed temporarily
//	Connecting ──────▶ Watching ─────────────────────────────────────┐
//	    ▲                                                            │
//	    │   at once: ended after a second or more; silent, or ended  ▼
//	    └──────────── after a wait: everything else ◀─────────── version seen last
//
//	the end:  ctx is done
//	          event has returned an error
//	          410, 401, 403, a refused request, a version not yet reached by the server,
//	          versions that go back, an object the server can't read, bad data twice at
//	          the same version: after these, later events may be incomplete
//
// Waits are those of [reflector.Backoff], or the server's Retry-After, and at most a tenth more.
// 404 is temporary: a resource of an aggregated API or a CRD may be missing while its server
// starts.
//
// A server restored from a backup accepts a watch from a version it has not reached, and sends
// nothing until it gets there; Retry misses the changes until then. It never lists, so it notices
// only versions that go back. API servers whose backup was restored as Kubernetes recommends, with
// a bumped revision, answer 410.
//
// # Ordering and blocking
//
// Events come in the server's order, each once, one at a time, and none is older than the previous
// one. Bookmarks (events without an object) are not passed on, but move the version at which the
// next connection starts.
//
// A callback may block: the stream is not read meanwhile, and the time does not count as silence of
// the server. A cancelled context ends every other wait at once.
//
// # Goroutines
//
// None is started. All callbacks are on the caller's goroutine.
package watch
