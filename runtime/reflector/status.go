// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"strings"
	"time"
)

// Status is how a Reflector is doing. The zero Status is that of one that has never run.
type Status struct {
	// State is what it is doing now.
	State State
	// Since is when it entered State.
	Since time.Time
	// Synced says whether, in this Run, a full state has been given to the Sink.
	Synced bool
	// Reason says what kind of failure it is recovering from; ReasonNone while all is well.
	Reason Reason
	// LastError is the last failure, nil if there was none. It stays after recovery; LastErrorTime says how old it is.
	LastError     error
	LastErrorTime time.Time
	// Attempts counts the failures in a row: 0 again as soon as a watch has been open for Backoff.ResetAfter, which is when
	// the waits begin anew too. So it may be above 0 in StateWatching, where Reason is ReasonNone.
	Attempts int
	// RetryAt is when the wait ends, in StateWaiting; else the zero time.
	RetryAt time.Time
	// LastEvent is when the last object or event of an object came in, of a list or of a watch.
	LastEvent time.Time
	// LastBookmark is when the last bookmark came in.
	LastBookmark time.Time
	// ResourceVersion is the last version that was passed to the Sink; "" before the first full state.
	ResourceVersion string
	// BadData counts the answers that could not be decoded or transformed, over all Runs; LastError and OnError say which
	// object it was.
	BadData int64
	// Relists counts the full states that were given to the Sink after the first one, over all Runs.
	Relists int64
}

// State is what a Reflector is doing.
type State uint8

// The states. StateStopped is the zero value.
const (
	// StateStopped is before and after Run.
	StateStopped State = iota
	// StateStreaming reads the existing objects from a watch-list.
	StateStreaming
	// StateListing reads the existing objects from a list.
	StateListing
	// StateConnecting waits for the server to accept a watch.
	StateConnecting
	// StateWatching is the normal state: the watch is open.
	StateWatching
	// StateWaiting pauses after a failure; Status.Reason says which, Status.RetryAt until when.
	StateWaiting
)

var stateNames = [...]string{
	StateStopped:    "stopped",
	StateStreaming:  "streaming the present objects",
	StateListing:    "listing",
	StateConnecting: "connecting",
	StateWatching:   "watching",
	StateWaiting:    "waiting to try again",
}

// String returns a few lower-case words.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// String returns one line for people: the state, and while something is wrong the reason, the attempts and the error.
func (s Status) String() string {
	var b strings.Builder
	b.WriteString(s.State.String())
	if !s.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", s.Since.UTC().Format(time.RFC3339))
	}
	if s.Reason != ReasonNone {
		fmt.Fprintf(&b, " (%s, %d failures in a row): %v", s.Reason, s.Attempts, s.LastError)
	}
	return b.String()
}
