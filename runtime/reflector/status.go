// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
)

// Status is the status of a [Reflector]. The zero Status belongs to one that has never run.
type Status struct {
	// State is the current activity.
	State State
	// Since is when the reflector entered State.
	Since time.Time
	// Synced reports whether the Sink has got a full state in this Run.
	Synced bool
	// Reason is the failure from which the reflector is recovering; [reason.None] if there is none.
	Reason reason.Reason
	// LastError is the last failure, nil if there was none. It stays after recovery; LastErrorTime
	// is when it occurred.
	LastError     error
	LastErrorTime time.Time
	// Attempts is the number of failures in a row. It is reset to 0, and the waits start over, when
	// a watch has been open for Backoff.ResetAfter.
	Attempts int
	// RetryAt is when the wait of StateWaiting or StateAbsent ends; the zero time in other states.
	RetryAt time.Time
	// LastEvent is the arrival time of the last object of a list or event of an object.
	LastEvent time.Time
	// LastBookmark is the arrival time of the last bookmark.
	LastBookmark time.Time
	// ResourceVersion is the last version passed to the Sink; "" before the first full state.
	ResourceVersion string
	// Restored is the version of Config.Restore's full state; "" if there was none, or until the
	// server has accepted its version.
	Restored string
	// BadData is the number of responses that could not be decoded or transformed, over all Runs;
	// LastError and OnError name the object.
	BadData int64
	// Relists is the number of full states after the Sink's first one, over all Runs.
	Relists int64
	// RelistsBy is Relists by the reason of the failure that led to a full state; reason.None
	// stands for a new Run, or for Relist. It is nil until the first of them, and must not be
	// changed.
	RelistsBy map[reason.Reason]int64
}

// countRelist counts a full state read because of a failure. It makes a new map, since copies of
// the Status have the old one.
func (s *Status) countRelist(cause reason.Reason) {
	by := map[reason.Reason]int64{}
	maps.Copy(by, s.RelistsBy)
	by[cause]++
	s.RelistsBy, s.Relists = by, s.Relists+1
}

// State is the activity of a Reflector.
type State uint8

// The states. StateStopped is the zero value.
const (
	// StateStopped is the state before and after Run.
	StateStopped State = iota
	// StateStreaming reads the existing objects from a watch-list.
	StateStreaming
	// StateListing reads the existing objects from a list.
	StateListing
	// StateConnecting waits for the server to accept a watch.
	StateConnecting
	// StateWatching is the normal state: the watch is open.
	StateWatching
	// StateWaiting waits after a failure.
	StateWaiting
	// StateAbsent waits for a resource that the server doesn't have; see Config.Optional. It lasts
	// until the server has shown that it has the resource, through further requests and their
	// failures.
	StateAbsent
)

var stateNames = [...]string{
	StateStopped:    "stopped",
	StateStreaming:  "streaming the present objects",
	StateListing:    "listing",
	StateConnecting: "connecting",
	StateWatching:   "watching",
	StateWaiting:    "waiting to try again",
	StateAbsent:     "waiting for the resource to exist",
}

// String returns a few lower-case words.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// MarshalText returns the result of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns one line for people: the state, and after a failure its reason, the attempts and
// the error.
func (s Status) String() string {
	var b strings.Builder
	b.WriteString(s.State.String())
	if !s.Since.IsZero() {
		fmt.Fprintf(&b, " since %s", s.Since.UTC().Format(time.RFC3339))
	}
	if s.Reason != reason.None {
		fmt.Fprintf(&b, " (%s, %d failures in a row): %v", s.Reason, s.Attempts, s.LastError)
	}
	return b.String()
}

// MarshalJSON returns a JSON object for people and tools that show it to them: state, reason and
// error as text, times in UTC, and the age of the state as a duration like "1m30s". It leaves out
// zero values, except for state and synced.
func (s Status) MarshalJSON() ([]byte, error) {
	text := struct {
		State           State                   `json:"state"`
		Since           time.Time               `json:"since,omitzero"`
		For             string                  `json:"for,omitempty"`
		Synced          bool                    `json:"synced"`
		Reason          reason.Reason           `json:"reason,omitzero"`
		LastError       string                  `json:"lastError,omitempty"`
		LastErrorTime   time.Time               `json:"lastErrorTime,omitzero"`
		Attempts        int                     `json:"attempts,omitempty"`
		RetryAt         time.Time               `json:"retryAt,omitzero"`
		LastEvent       time.Time               `json:"lastEvent,omitzero"`
		LastBookmark    time.Time               `json:"lastBookmark,omitzero"`
		ResourceVersion string                  `json:"resourceVersion,omitempty"`
		Restored        string                  `json:"restored,omitempty"`
		BadData         int64                   `json:"badData,omitempty"`
		Relists         int64                   `json:"relists,omitempty"`
		RelistsBy       map[reason.Reason]int64 `json:"relistsBy,omitempty"`
	}{
		State: s.State, Since: s.Since.UTC(), Synced: s.Synced, Reason: s.Reason, LastErrorTime: s.LastErrorTime.UTC(), Attempts: s.Attempts,
		RetryAt: s.RetryAt.UTC(), LastEvent: s.LastEvent.UTC(), LastBookmark: s.LastBookmark.UTC(), ResourceVersion: s.ResourceVersion,
		Restored: s.Restored, BadData: s.BadData, Relists: s.Relists, RelistsBy: s.RelistsBy,
	}
	if !s.Since.IsZero() {
		text.For = time.Since(s.Since).Round(time.Millisecond).String()
	}
	if s.LastError != nil {
		text.LastError = s.LastError.Error()
	}
	return json.Marshal(text)
}
