// SPDX-License-Identifier: Apache-2.0

// Package reflector keeps a sink up to date with a collection of the API: it reads the present objects, watches for
// changes, and recovers from whatever goes wrong in between.
//
// # States
//
// The behaviour is one pure function, step, from a state and an input to the next state and an action. It has no clock, no
// lock and no loop; Run carries its actions out and feeds it what came of them.
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
// Streaming is a watch-list (KEP-3157): the present objects as events, a bookmark that ends them, then the changes in the
// same stream. If the bookmark doesn't come, or the server can't do it, the round reads a list.
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
// version (410), has lost an object, or comes with older versions than before. Versions that are no numbers are not
// compared.
//
// # Waiting
//
// What fails is tried again after a wait (Backoff), or after what the server asks for (Retry-After, obeyed exactly plus at
// most a tenth). A retry without a wait happens where there is something better to try, and not twice in a row until a watch
// has been open for Backoff.ResetAfter: a server that expires every version is not asked in a loop. A watch that
// ends in good order after a second or more is opened again at once; that is no failure. A watch that is silent for long is
// opened again at once too: where nothing changes, API servers send no bookmarks either.
//
// # Ordering and blocking
//
// All of the Sink's methods, OnError and OnStatus are called on the goroutine that is in Run, one at a time, in the order in
// which the server said things. BeginReplace is followed by exactly one EndReplace or AbortReplace, whatever happens, unless
// the Sink itself has failed. Between them come Replace and Delete only; outside of them Add, Update, Delete, Bookmark only.
// Of what a Sink is told outside of a replace no version is older than the one told before.
//
// A Sink may block. The server's stream waits meanwhile, and the time does not count as the server's silence. Cancelling ctx
// ends every wait of the reflector at once, in whatever state; it does not interrupt the Sink, so a Sink that may block
// for long has to be closed by whoever cancels.
//
// Less formally: Run is a single thread of events, as slow as its Sink, and when it has returned nothing of it is left.
package reflector
