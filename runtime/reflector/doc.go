// SPDX-License-Identifier: Apache-2.0

// Package reflector keeps a sink up to date with a collection of the API: it reads the existing
// objects, watches for changes, and recovers from every failure in between.
//
// # States
//
// The behaviour is one pure function, step, from a state and an input to the next state and an
// action. It has no clock, no lock and no loop; Run carries out the actions and passes their
// results to step as inputs. An event of an open watch needs only next, a part of step.
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
//	   │   says that it stands where it should          │
//	   ├────────────────────────────────────────────────┘
//	   │
//	   └ any failure that is left, in any state ──▶ Waiting ──▶ Connecting, if the sink has a full state that
//	                                                            the server still knows; else a round
//
// Where watch-lists are off, unknown to the server, or have failed in this round, a round begins
// with Listing.
//
// Streaming is a watch-list (KEP-3157): the existing objects as events, a bookmark that ends them,
// then the changes in the same stream. If the bookmark doesn't come, or the server doesn't support
// watch-lists, the round reads a list.
//
// What a list asks for:
//
//	the first one             resourceVersion 0 (what the server has in its cache), limit 500
//	later ones                not older than the last version, whole (in pages of 500 if the first one came in pages)
//	with Tuning.PageSize      the most recent state, in pages of that size
//	after a list's 410,       the most recent state, in pages of 500
//	  a version that is too
//	  new, going back
//	after an expired token    the same again, without pages
//
// A watch-list that is cut off is followed by a list, after the wait, in case that something on the
// way to the server dislikes long answers.
//
// A watch that fails is opened again at the last version; no list is read unless the server says
// that it has forgotten the version (410), has lost an object, or sends older versions than before,
// or unless two watches in a row were forbidden, or were accepted and failed at once at the same
// version. Versions that are not numbers are not compared.
//
// # Rights
//
// An account that may list and not watch is served by lists: one after each wait, which grow as
// after any failure, followed by an attempt to watch, which shows when the right has been given.
// The Sink has a full state, so the reflector has synced, and Status.Reason is ReasonWatchForbidden
// for as long as it lasts. Where lists are forbidden too it is ReasonForbidden; a reflector that
// has a full state already goes on trying to watch from there.
//
// # Waiting
//
// A failed request is repeated after a wait (Backoff), or after the time that the server asks for
// (Retry-After up to Backoff.MaxRetryAfter, and at most a tenth more). Where there is something
// better to try, it is tried without a wait, but not twice in a row until a watch has been open for
// Backoff.ResetAfter: a server that expires every version is not asked in a loop. A watch that the
// server ends normally after a second or more is opened again at once; that is no failure. A watch
// that was silent for too long is opened again at once too, because API servers send no bookmarks
// while nothing changes.
//
// The waits, and Status.Attempts, begin anew when a watch has been open for Backoff.ResetAfter, and
// never because time has passed: during an outage, however long, the waits stay at Backoff.Max.
//
// # Bad data
//
// An answer with an object that can't be decoded or transformed ends where that object stands. The
// error says which one it is, as far as that can be told (source.DecodeError, TransformError); it
// is in Status, in the log and given to OnError. The request is made again at once, then with the
// waits of Backoff; a watch that can't get past the object is followed by a list, because the
// object may have changed in the meantime. If the list has it too, nothing gets past it: the Sink
// keeps what it has, Status says since when and why, and the reflector asks again after each wait
// until the object is repaired, which it notices by itself. It does not leave the object out: a
// Sink that lacks objects which exist would have their owners create them again.
//
// # Versions that go back
//
// A server whose storage was put back to an older state (a restored backup) counts its versions
// again from there. This is noticed when an event or a bookmark is older than the one before, when
// a full state is older than what the Sink has, when the server says that it has not reached a
// version, and when a watch was silent: before the next one, the server is asked for its version,
// by a list of one object. What follows is the most recent full state, which replaces everything:
// it is asked for with source.ListOptions.Anew or source.WatchOptions.Anew, since the restored
// server may give a version that the Sink has seen to another state of the same object. A full
// state after a 410 that turns out to be older than what was seen is read again that way.
//
// It is not noticed if all watches were closed while the server went back, and its versions have
// passed the old one again before a watch has been silent for Tuning.SilenceTimeout: then an object
// that differs stays so until it changes, or until the next full state. Kubernetes recommends to
// bump the revision of a backup that is restored, and to mark it compacted (etcdutl snapshot
// restore --bump-revision --mark-compacted); then every watch is answered with 410.
//
// # Ordering and blocking
//
// The Sink's methods, OnError and OnStatus are called on the goroutine that is in Run, one at a
// time, in the order of the server's responses and events. BeginReplace is followed by exactly one
// EndReplace or AbortReplace, whatever happens, unless the Sink itself has failed. Between them
// come Replace and Delete only; outside of them Add, Update, Delete, Bookmark only. Outside of a
// replace, no call has an older version than the call before. A Sink that is a Flusher is flushed
// after each event, except while the Source says that more of them have arrived
// (source.Event.More), and then after 128 at the latest; and at the end of each list and watch. If
// those that were announced don't come, that is silence, for which SilenceTimeout holds. Status
// speaks of what was flushed.
//
// A Sink may block. Meanwhile the server's stream is not read, and the time does not count as
// silence of the server. Cancelling ctx ends every wait of the reflector at once, in any state, and
// no further object is passed on. It does not interrupt the Sink, so a Sink that may block for long
// has to be closed by the caller that cancels.
//
// # Goroutines
//
// Run starts none: it lists, watches and waits on the caller's goroutine, and returns when ctx is
// done. (Timers that watch for silence fire on a goroutine of the Go runtime, and do no more than
// cancel a context; none of them is left.) Less formally: Run is one sequence of calls, as slow as
// its Sink, and nothing of it is left when it has returned.
package reflector
