// SPDX-License-Identifier: Apache-2.0

// Package reflector keeps a [Sink] up to date with a collection of the API: it reads the existing
// objects, watches for changes, and recovers from every failure.
//
// It reads the existing objects with a list, and then opens a watch, a stream of changes, at the
// list's version (its resourceVersion). A bookmark is an event with a version and no object.
//
// # States
//
// One pure function, step, determines the behaviour: from a machine (the state, and everything else
// that matters) and an input it computes the next machine and an action. Run carries out the
// actions and passes their results to step as inputs.
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
// A round reads one full state. It begins with Listing if watch-lists are off, not supported by the
// server, or one has failed in this round.
//
// Streaming reads a watch-list (KEP-3157): the existing objects as events, a bookmark, then the
// changes in the same stream.
//
// The requests of lists:
//
//	the first one             resourceVersion 0 (from the server's cache), limit 500
//	later ones                not older than the last version, whole (in pages of 500 if the first
//	                          one came in pages)
//	with Tuning.PageSize      the most recent state, in pages of that size
//	after a list's 410,       the most recent state, in pages of 500
//	  a version that is too
//	  new, going back
//	after an expired token    the same again, without pages
//
// When a watch-list was cut off, the reflector waits and then lists, because something on the way
// to the server may cut off long responses.
//
// When a watch has failed, the next one starts at the last version. The reflector lists again only
// if the server has forgotten the version (410), has lost an object or an optional resource, or
// sends older versions than before; or if two watches in a row were forbidden, or were accepted and
// failed at once at the same version. Versions other than numbers are not compared.
//
// # Kept states
//
// With Config.Restore, the reflector begins with a full state kept from an earlier process, and a
// watch from its version. The Sink gets the objects at once, but EndReplace only when the server
// has accepted the version: with the first event of the watch or, after half a second without one,
// when a list of one object has returned the server's version. If the server has forgotten the
// version, is at an older one, does not answer, or refuses watches, the Sink gets AbortReplace, and
// a round begins. While the server can't be reached, the reflector goes on trying, and the Sink has
// no full state yet.
//
// # Resources that may be missing
//
// With Config.Optional, a 404 leads to StateAbsent, a wait that is no failure. When the
// CustomResourceDefinition of a resource is deleted, API servers first delete its objects, whose
// events the Sink gets, and then end the watch. The reflector infers nothing from the 404: objects
// whose deletion it missed, while it was not connected, stay until the resource exists again. Then
// it reads the full state, because API servers have no history of an earlier resource. API servers
// check rights first: without the right to list and watch, the
// answer is 403, whether the resource exists or not.
//
// # Rights
//
// [reason.WatchForbidden] says how the reflector goes on if the account may list but not watch. If
// lists are forbidden too, Status.Reason is [reason.Forbidden]; a reflector with a full state goes
// on trying to watch from there.
//
// # Waiting
//
// A failed request is repeated after a wait ([Backoff]), or after the server's Retry-After (up to 5
// minutes, and at most a tenth more). If another request may succeed, the reflector tries it
// without a wait, but not twice in a row until a watch has been open for Backoff.ResetAfter. A
// watch that the server ends normally after a second or more is opened again at once, and is not a
// failure.
//
// # Bad data
//
// A response is read up to an object that can't be decoded or transformed. The error names the
// object, if it is known ([source.DecodeError], [source.TransformError]). The reflector tries again
// as [reason.BadData] says. If a list has the object, too, the reflector asks again after each wait
// until the object is repaired; meanwhile the Sink keeps its objects. Leaving the object out would
// be worse: a controller that doesn't see an existing object could create it again.
//
// # Versions that go back
//
// A server whose storage was restored from a backup continues from the backup's versions. The
// reflector notices this when an event or a bookmark is older than the previous one, when a full
// state is older than the Sink's, and when the server reports that it has not reached a version. To
// find out, it also asks for the server's version after a silent watch, by a list of one object.
// Once it has noticed, it reads the most recent full state, which replaces everything, with NoReuse
// of [source.ListOptions] or [source.WatchOptions], since the restored server may give a known
// version to another state of an object.
//
// A restore goes unnoticed if no watch was open during it, and the server's versions pass the old
// one again before a watch has been silent for Tuning.SilenceTimeout. Then a different object stays
// wrong until it changes, or until the next full state. Kubernetes recommends bumping the revision
// of a restored backup, and marking it compacted (etcdutl snapshot restore --bump-revision
// --mark-compacted). Then every watch is answered with 410.
//
// # Ordering and blocking
//
// Callbacks and the Sink's methods are called on the goroutine that calls Run; see [Sink] for the
// sequence. Announced events (More of [source.Event]) that don't come count as silence. Status has
// the flushed state.
//
// A Sink may block. Meanwhile the reflector does not read the server's stream, and the time does
// not count as silence. Cancelling ctx ends every wait of the reflector at once, and no further
// object is passed on. It does not interrupt the Sink, so a caller whose Sink may block for long
// has to close it, too.
//
// # Goroutines
//
// Run starts none: it lists, watches and waits on the caller's goroutine, and returns when ctx is
// done. No goroutine or timer outlives Run.
package reflector
