// SPDX-License-Identifier: Apache-2.0

// Package watch is for programs that wait for something to happen and keep no cache: commands,
// tests, scripts. [Retry] reads the changes of a collection after a version, over as many
// connections as that takes, without a gap and without a repetition. [Until] does so until
// conditions have come true.
//
//	created, err := client.Create(ctx, job)       // stands at version 42
//	watch.Until(ctx, jobs, "42", watch.Options{}, func(e source.Event[*Job]) (bool, error) { … })
//
// A program that needs the objects themselves, or can't say from which version on it has to know,
// wants an informer: informers list again where a watch can't go on.
//
// # States
//
//	          accepted                  ended, or failed in a way that passes
//	Connecting ──────▶ Watching ─────────────────────────────────────┐
//	    ▲                                                            │
//	    │   at once: ended after a second or more; silent, or ended  ▼
//	    └──────────── after a wait: everything else ◀─────────── version seen last
//
//	the end:  ctx is done
//	          event has returned an error
//	          410, 401, 403, a refused request, a version that the server has not reached, versions that go back, an object
//	          that the server can't read, the same bad data twice: nothing that comes later can be trusted to be complete
//
// Waits are those of reflector.Backoff, or what the server asks for (Retry-After, and at most a
// tenth more). 404 passes: a resource of an aggregated API or a CRD may be away while its server
// starts.
//
// A server that was put back to an older state (a restored backup) accepts a watch from a newer
// version and is silent until it gets there; what happens until then is not seen. Retry notices
// versions that go back, and nothing else, because it never lists. API servers whose backup was
// restored as Kubernetes recommends, with a bumped revision, answer 410.
//
// # Ordering and blocking
//
// Events come in the server's order, each once, one at a time, and none is older than the one
// before. Bookmarks are not passed on; they move the version from which the next connection starts.
//
// A callback may block: the stream is not read meanwhile, and the time does not count as silence of
// the server. A cancelled context ends every other wait at once. Less formally: a call lasts until
// it has what it waits for, or says why it will not come.
//
// # Goroutines
//
// None is started. Everything is called on the caller's goroutine, and nothing is left when a call
// has returned.
package watch
