// SPDX-License-Identifier: Apache-2.0

// Package reflector keeps a sink up to date with a collection of the API: it reads the existing objects, watches for
// changes, and recovers from every failure in between.
//
// # States
//
// The behaviour is one pure function, step, from a state and an input to the next state and an action. It has no clock, no
// lock and no loop; Run carries out the actions and passes their results to step as inputs.
//
//	 a round begins: at the start, after 410, or when the versions went back
//	   │
//	   ▼           not known, no bookmark, 5xx, 410
//	Streaming ─────────────────────────────────────▶ Listing
//	   │                                                │
//	   │ bookmark                                       │ last page
//	   ▼                     accepted                   ▼
//	Watching ◀───────────────────────────────────── Connecting
//	   │                     ended well                 ▲
//	   ├────────────────────────────────────────────────┘
//	   │
//	   └ any failure that is left, in any state ──▶ Waiting ──▶ Connecting, if the sink has a full state that
//	                                                            the server still knows; else a round
//
// Where watch-lists are off, unknown to the server, or have failed in this round, a round begins with Listing.
//
// Streaming is a watch-list (KEP-3157): the existing objects as events, a bookmark that ends them, then the changes in the
// same stream. If the bookmark doesn't come, or the server doesn't support watch-lists, the round reads a list.
//
// What a list asks for:
//
//	the first one             resourceVersion 0 (what the server has in its cache), limit 500
//	later ones                not older than the last version, whole (in pages of 500 if the first one came in pages)
//	with Config.PageSize      the most recent state, in pages of that size
//	after 410, after a        the most recent state, in pages of 500
//	  version that is too new,
//	  after going back
//	after an expired token    the same again, without pages
//
// A watch that fails is opened again at the last version; no list is read unless the server says that it has forgotten the
// version (410), has lost an object, or sends older versions than before. Versions that are not numbers are not compared.
//
// # Waiting
//
// A failed request is repeated after a wait (Backoff), or after the time that the server asks for (Retry-After, and at most
// a tenth more). Where there is something better to try, it is tried without a wait, but not twice in a row until a watch
// has been open for Backoff.ResetAfter: a server that expires every version is not asked in a loop. A watch that the server
// ends normally after a second or more is opened again at once; that is no failure. A watch that was silent for too long is
// opened again at once too, because API servers send no bookmarks while nothing changes.
//
// # Ordering and blocking
//
// The Sink's methods, OnError and OnStatus are called on the goroutine that is in Run, one at a time, in the order of the
// server's responses and events. BeginReplace is followed by exactly one EndReplace or AbortReplace, whatever happens, unless
// the Sink itself has failed. Between them come Replace and Delete only; outside of them Add, Update, Delete, Bookmark only.
// Outside of a replace, no call has an older version than the call before.
//
// A Sink may block. Meanwhile the server's stream is not read, and the time does not count as silence of the server.
// Cancelling ctx ends every wait of the reflector at once, in any state; it does not interrupt the Sink, so a Sink that may
// block for long has to be closed by the caller that cancels.
//
// # Goroutines
//
// Run starts none: it lists, watches and waits on the caller's goroutine, and returns when ctx is done. Less formally: Run is
// one sequence of calls, as slow as its Sink, and nothing of it is left when it has returned.
package reflector
