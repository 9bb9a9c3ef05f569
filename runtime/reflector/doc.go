// SPDX-License-Identifier: Apache-2.0

// Package reflector keeps a [Sink] up to date with a collection of the API: it reads the existing
// objects, watches for changes, and recovers from every failure.
//
// It reads the existing objects with a list, and then opens a watch, a request whose response is a
// stream of changes. Each object, list and event has a resourceVersion, here called version. The
// version of a list or an event is where the next watch can start. A bookmark is an event without
// an object, which only has a version. When the server no longer knows a version, it answers 410
// Gone; then the reflector has to list again.
//
// # States
//
// One pure function, step, determines the behaviour: from a machine (the state, and all else that
// matters) and an input it computes the next machine and an action. It has no clock, no lock and no
// loop. Run carries out the actions and passes their results to step as inputs. An event of an open
// watch needs only next, a part of step.
//
//	 a round begins: at the start, after a watch's 410, or when the versions went back
//	   │
//	   ▼           not known, forbidden, no bookmark, 5xx, 410
//	Streaming ─────────────────────────────────────▶ Listing
//	   │                                                │
//	   │ bookmark                                       │ last page
//	   ▼                     accepted                   ▼
//	Watching ◀───────────────────────────────────── Connecting
//	   │   ended well; or was silent, and the server    ▲
//	   │   has the version that it should have          │
//	   ├────────────────────────────────────────────────┘
//	   │
//	   └ any other failure, in any state ──▶ Waiting ──▶ Connecting, if the sink has a full state
//	                                                     that the server still knows; else a round
//
// A round reads one full state. If watch-lists are off, or the server does not support them, or one
// has failed in this round, the round begins with Listing.
//
// Streaming reads a watch-list (KEP-3157): the existing objects come as events, then a bookmark
// that ends them, then the changes in the same stream. If the bookmark doesn't come, or the server
// doesn't support watch-lists, the round reads a list.
//
// The requests of lists:
//
//	the first one             resourceVersion 0 (what the server has in its cache), limit 500
//	later ones                not older than the last version, whole (in pages of 500 if the first
//	                          one came in pages)
//	with Tuning.PageSize      the most recent state, in pages of that size
//	after a list's 410,       the most recent state, in pages of 500
//	  a version that is too
//	  new, going back
//	after an expired token    the same again, without pages
//
// After a watch-list that was cut off, and after the wait, the reflector lists, because something
// on the way to the server may cut off long responses.
//
// After a watch that fails, the next one starts at the last version. The reflector lists again only
// in these cases: the server has forgotten the version (410), has lost an object, or sends older
// versions than before; or two watches in a row were forbidden, or were accepted and failed at once
// at the same version. Versions that are not numbers are not compared.
//
// # Kept states
//
// With Config.Restore, the reflector begins with a full state that an earlier process has kept, and
// with a watch from its version. The Sink gets the objects at once, but EndReplace only when the
// server has accepted the version: with the first event of the watch, or, if it has brought nothing
// for half a second, when the server was asked for its version, by a list of one object. In these
// cases the Sink gets AbortReplace, and a round begins: the server has forgotten the version, is at
// an older one, does not answer, or refuses watches. While the server can't be reached, the
// reflector goes on trying, and the Sink has no full state yet.
//
// # Rights
//
// If the account may list but not watch, the reflector lists after each wait, and then tries to
// watch, to find out when the account gets the right. The waits grow as after any failure. The Sink
// has a full state, so the reflector has synced, and Status.Reason is [reason.WatchForbidden]
// meanwhile. If lists are forbidden too, it is [reason.Forbidden]; a reflector that has a full
// state already goes on trying to watch from there.
//
// # Waiting
//
// A failed request is repeated after a wait ([Backoff]), or after the time that the server asks for
// (Retry-After up to 5 minutes, and at most a tenth more). If another request may
// succeed, the reflector tries it without a wait, but not twice in a row until a watch has been
// open for Backoff.ResetAfter. So it doesn't ask a server that expires every version in a loop. A
// watch that the server ends normally after a second or more is opened again at once; that is not a
// failure. A watch that was silent for too long is opened again at once too, because API servers
// send no bookmarks while nothing changes.
//
// The waits, and Status.Attempts, begin anew only when a watch has been open for
// Backoff.ResetAfter. So during a long outage the waits stay at Backoff.Max.
//
// # Bad data
//
// A response is read up to an object that can't be decoded or transformed. The error names the
// object, if it is known ([source.DecodeError], [source.TransformError]). It is in Status, it is
// logged, and OnError gets it. The request is repeated at once, and then with the waits of Backoff.
// If a watch can't get past the object, the reflector lists, because the object may have changed in
// the meantime. If the list has it too, the reflector can't go on: the Sink keeps what it has,
// Status has the reason, the last error and the number of failures in a row, and the reflector asks
// again after each wait, until the object is repaired. It does not leave the object out: a
// controller whose Sink lacks objects that exist could create them again.
//
// # Versions that go back
//
// A server whose storage was restored from a backup continues its versions from the backup's. The
// reflector notices this when an event or a bookmark is older than the previous one, when a full
// state is older than the Sink's, and when the server reports that it has not reached a version.
// After a watch that was silent, it asks for the server's version, by a list of one object. Once it
// has noticed, it reads the most recent full state, which replaces everything. It does so with Anew
// of [source.ListOptions] or [source.WatchOptions], since the restored server may give a version
// that the Sink has seen to another state of the same object. A full state after a 410 that turns
// out to be older than the Sink's is read again that way.
//
// The reflector doesn't notice it if no watch was open while the storage was restored, and the
// server's versions pass the old one again before a watch has been silent for
// Tuning.SilenceTimeout. Then an object that differs stays wrong until it changes, or until the
// next full state. Kubernetes recommends to bump the revision of a backup that is restored, and to
// mark it compacted (etcdutl snapshot restore --bump-revision --mark-compacted). Then every watch
// is answered with 410.
//
// # Ordering and blocking
//
// The Sink's methods, OnError and OnState are called on the goroutine that calls Run, one at a
// time, in the order of the server's responses and events. BeginReplace is followed by exactly one
// EndReplace or AbortReplace, whatever happens, unless the Sink itself has failed. Between them
// come Replace and Delete only; outside of them Add, Update, Delete, Bookmark only. Outside of a
// replace, no call has an older version than the previous call. A Sink with a Flush method is
// flushed after each event, except while the Source reports that more events have arrived (More of
// [source.Event]), and then after 128 at the latest. It is also flushed at the end of each list and
// watch. If the announced events don't come, that counts as silence, for SilenceTimeout. Status has
// what was flushed.
//
// A Sink may block. Meanwhile the reflector does not read the server's stream, and the time does
// not count as silence of the server. Cancelling ctx ends every wait of the reflector at once, in
// any state, and no further object is passed on. It does not interrupt the Sink. So the caller that
// cancels has to close a Sink that may block for long.
//
// # Goroutines
//
// Run starts none: it lists, watches and waits on the caller's goroutine, and returns when ctx is
// done. (Timers that watch for silence fire on a goroutine of the Go runtime, and do no more than
// cancel a context; Run stops them.) In short: Run is one sequence of calls, as slow as its Sink,
// and leaves no goroutine or timer behind.
package reflector
