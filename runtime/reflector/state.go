// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

const defaultPage = 500

// maxEmptyPages is the number of empty pages in a row that may have a continue token.
const maxEmptyPages = 10

// machine is all data that determines the next step. It is a value: step returns a new one and
// changes none.
type machine struct {
	rules rules // set once at the start

	state     State
	afterWait State  // in StateWaiting: StateConnecting for a watch, StateListing for a new round
	version   string // the last one passed to the sink
	synced    bool   // the sink has had a full state
	restored  bool   // the sink has a full state of Restore, not yet completed (restore.go)
	probed    bool   // and the server was asked for its version

	// How to read the next full state; reset afterwards.
	needsLatest bool // as the most recent one
	noReuse     bool // without reusing objects of the sink, because the versions went back
	noPages     bool // a token has expired
	listOnly    bool // by a list: a watch-list has failed in this round

	// Findings of this Run about the server; never reset.
	noWatchList bool // it doesn't support watch-lists
	alwaysPages bool // it reads lists in pages even when it may answer from its cache

	// watchForbidden is set while watches are forbidden, and makes lists replace them. A forbidden
	// watch-list sets it, and so does the first of two forbidden watches in a row. An accepted
	// watch resets it, and so does a relist that is forbidden too.
	watchForbidden bool

	// retriedAtOnce is set by a retry without a wait, and prevents another until a watch has been
	// healthy.
	retriedAtOnce bool

	// needsProbe is set by a silent watch. It makes the reflector ask for the server's version
	// before the next watch: a server restored to an older version accepts a watch from a newer
	// one, and sends nothing until it gets there.
	needsProbe bool

	// failedVersion is the version of a watch that was accepted and then failed at once, by an
	// error of the server or by bad data. The next event is the cause. If it happens again, a full
	// state is read to get past that event.
	failedVersion string

	pages pages // in StateListing
}

type rules struct {
	pageSize  int64
	watchList bool
	optional  bool // a resource that comes back after a 404 is a new one
}

// pages is the progress of a list. Brent's algorithm finds cycles of its tokens: each token is
// compared with a saved one, which is replaced after 1, 2, 4, 8 … tokens.
type pages struct {
	version      string // of the first page
	token        string // of the next page; "" on the first one
	savedToken   string
	steps, power int
	emptyPages   int // in a row
}

type inputType uint8

const (
	inStart       inputType = iota + 1 // with version, if there is a restored state
	inOpened                           // the watch was accepted
	inEvent                            // with event, version, initialEnd
	inPage                             // with version, token, items
	inEnded                            // normally; with shortWatch, hasEvents, healthy
	inFailed                           // with reason, retryAfter, shortWatch, healthy
	inElapsed                          // the wait is over
	inConfirmed                        // the watch from a restored version has an event
	inUnconfirmed                      // it is open, without an event for confirmationTimeout
	inRelist                           // a full state was requested; with healthy
	inProbed                           // the server was asked: version, "" if it is unknown
)

type input struct {
	typ        inputType
	event      source.EventType
	version    string // of an event, a page or the server
	initialEnd bool
	token      string // of the next page
	items      int    // in the page, including skipped ones
	reason     reason.Reason
	retryAfter time.Duration // the wait requested by the server
	shortWatch bool          // the watch was open for less than a second
	hasEvents  bool          // the watch has brought an event
	healthy    bool          // the watch was open long enough to forget earlier failures
}

type task uint8

const (
	taskContinue  task = iota // continue the open stream
	taskStop                  // stop the open stream, because of action.detected
	taskWatchList             // begin a replace and open a watch-list at version
	taskList                  // begin a replace and read the first page: version, match, limit
	taskPage                  // read the page of token: limit
	taskWatch                 // open a watch at version
	taskProbe                 // ask for the most recent version
	taskWait                  // wait for action.delay, or for the backoff if that is 0
)

// call is a call to the sink, made before the task; the set is closed.
type call uint8

const (
	callNone call = iota
	callReplace
	callAdd
	callUpdate
	callDelete
	callBookmark   // callVersion
	callEndReplace // callVersion
	callAbortReplace
)

type action struct {
	call        call
	task        task
	callVersion string // for callBookmark and callEndReplace
	restored    bool   // callEndReplace is for a full state of Restore
	version     string
	match       string
	limit       int64
	token       string
	delay       time.Duration
	detected    reason.Reason // a failure that step has detected
}
