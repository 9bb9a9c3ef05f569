// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// defaultPage is the size of a page if Config sets none.
const defaultPage = 500

// maxEmptyPages is how many pages in a row may be empty and yet have a continue token.
const maxEmptyPages = 10

// state is everything that decides what comes next. It is a value: step returns a new one and
// changes none.
type state struct {
	rules rules // set once at the start

	phase   State
	then    State  // in StateWaiting: StateConnecting to watch again, StateListing for a new round
	version string // last one that was passed to the sink
	synced  bool   // the sink has had a full state

	// How the next full state has to be read; reset once one has been read.
	fresh bool // as the most recent one
	// without trust in what the sink has of the same versions, because the versions went back
	anew     bool
	whole    bool // without pages: a token has expired
	listOnly bool // by a list: a watch-list has failed in this round

	// What this Run has learned about the server; never reset.
	noStream bool // it doesn't support watch-lists
	paged    bool // it reads lists in pages even when it may answer from its cache

	// noWatch is set while watches are forbidden, and makes lists take their place: by a watch-list
	// that was, and by the first of two watches in a row that were. It is reset by a watch that is
	// accepted, and by a relist that is forbidden too.
	noWatch bool

	// hasty is set by a retry without a wait, and forbids the next one until a watch has been
	// healthy.
	hasty bool

	// doubt is set by a watch that was silent, and makes the next one wait until the server has
	// said where it stands: one that was put back to an older state accepts a watch from a newer
	// one, and holds back everything until it gets there.
	doubt bool

	// stuck is the version after which a watch was accepted and then failed at once by an error of
	// the server or by bad data. The event after that version is to blame: if it happens again, a
	// full state is read to get past it.
	stuck string

	pages pages // in StateListing
}

// rules are what Config says.
type rules struct {
	pageSize int64
	stream   bool
}

// pages is the progress of a list. Cycles of its tokens are found by Brent's algorithm: each token
// is compared with one that is kept, and the kept one is replaced after 1, 2, 4, 8 … tokens.
type pages struct {
	version     string // of the first page
	token       string // of the next page; "" on the first one
	kept        string
	count, next int
	empty       int // pages in a row without an object
}

// inputKind is the closed set of what can happen.
type inputKind uint8

const (
	inStart   inputKind = iota + 1
	inOpened            // the watch was accepted
	inEvent             // with event, version, initialEnd
	inPage              // with version, token, items
	inEnded             // the server has ended the watch normally; with brief, events, healthy
	inFailed            // with reason, after, brief, healthy
	inElapsed           // the wait is over
	inProbed            // the server has said where it stands, with version; "" if it has not
)

// input is something that has happened.
type input struct {
	kind       inputKind
	event      source.EventType
	version    string // of an event or a page
	initialEnd bool
	token      string // of the next page
	items      int    // in the page, those that were skipped too
	reason     Reason
	after      time.Duration // that the server asks for
	brief      bool          // the watch was open for less than a second
	events     bool          // the watch has brought something
	healthy    bool          // the watch was open long enough to forget earlier failures
}

// op is the closed set of what can be done next.
type op uint8

const (
	opGoOn   op = iota // go on reading the open stream
	opLeave            // leave the open stream, because of action.found
	opStream           // begin a replace and open a watch-list at version
	opList             // begin a replace and read the first page: version, match, limit
	opPage             // read the page of token: limit
	opWatch            // open a watch at version
	opProbe            // ask for the most recent version
	opWait             // wait for after, or for the backoff if after is 0
)

// call is the closed set of calls to the sink. The call comes before the op.
type call uint8

const (
	callNothing call = iota
	callReplace
	callAdd
	callUpdate
	callDelete
	callBookmark // version
	callEnd      // version
	callAbort
)

// action is what has to be done about an input.
type action struct {
	call    call
	op      op
	told    string // version for callBookmark and callEnd
	version string
	match   string
	limit   int64
	token   string
	after   time.Duration
	found   Reason // a failure that only step could see
}
