// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"encoding/json"
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
	// Synced reports whether, in this Run, a full state has been given to the Sink.
	Synced bool
	// Reason says what kind of failure it is recovering from; ReasonNone while all is well.
	Reason Reason
	// LastError is the last failure, nil if there was none. It stays after recovery; LastErrorTime
	// says how old it is.
	LastError     error
	LastErrorTime time.Time
	// Attempts counts the failures in a row: 0 again as soon as a watch has been open for
	// Backoff.ResetAfter, which is when the waits begin anew too. So it may be above 0 in
	// StateWatching, where Reason is ReasonNone.
	Attempts int
	// RetryAt is when the wait ends, in StateWaiting; else the zero time.
	RetryAt time.Time
	// LastEvent is when the last object or event of an object came in, of a list or of a watch.
	LastEvent time.Time
	// LastBookmark is when the last bookmark came in.
	LastBookmark time.Time
	// ResourceVersion is the last version that was passed to the Sink; "" before the first full
	// state.
	ResourceVersion string
	// BadData counts the answers that could not be decoded or transformed, over all Runs; LastError
	// and OnError say which object it was.
	BadData int64
	// Relists counts the full states that were given to the Sink after the first one, over all
	// Runs.
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

// MarshalText returns what String does.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns one line for people: the state, and while something is wrong the reason, the
// attempts and the error.
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

// MarshalJSON returns an object for people and for tools that show it: state, reason and error as
// text, times in UTC, and for how long the state has lasted as a duration like "1m30s". What is
// zero is left out, except for state and synced.
func (s Status) MarshalJSON() ([]byte, error) {
	text := struct {
		State           State     `json:"state"`
		Since           time.Time `json:"since,omitzero"`
		For             string    `json:"for,omitempty"`
		Synced          bool      `json:"synced"`
		Reason          Reason    `json:"reason,omitzero"`
		LastError       string    `json:"lastError,omitempty"`
		LastErrorTime   time.Time `json:"lastErrorTime,omitzero"`
		Attempts        int       `json:"attempts,omitempty"`
		RetryAt         time.Time `json:"retryAt,omitzero"`
		LastEvent       time.Time `json:"lastEvent,omitzero"`
		LastBookmark    time.Time `json:"lastBookmark,omitzero"`
		ResourceVersion string    `json:"resourceVersion,omitempty"`
		BadData         int64     `json:"badData,omitempty"`
		Relists         int64     `json:"relists,omitempty"`
	}{
		State: s.State, Since: s.Since.UTC(), Synced: s.Synced, Reason: s.Reason, LastErrorTime: s.LastErrorTime.UTC(), Attempts: s.Attempts,
		RetryAt: s.RetryAt.UTC(), LastEvent: s.LastEvent.UTC(), LastBookmark: s.LastBookmark.UTC(), ResourceVersion: s.ResourceVersion,
		BadData: s.BadData, Relists: s.Relists,
	}
	if !s.Since.IsZero() {
		text.For = time.Since(s.Since).Round(time.Millisecond).String()
	}
	if s.LastError != nil {
		text.LastError = s.LastError.Error()
	}
	return json.Marshal(text)
}
