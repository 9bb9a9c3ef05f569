// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Status is what an informer is doing. As JSON it has texts for states, reasons, errors, keys and
// durations.
type Status struct {
	// Name is what logs and errors call the informer.
	Name string `json:"name"`
	// Running reports whether anyone keeps the informer running, or its last run has not ended yet.
	// Until the reflector's first step, Reflector.State is still StateStopped.
	Running bool `json:"running"`
	// Synced reports whether the first full state is in the store.
	Synced bool `json:"synced"`
	// Objects is the number of objects in the store.
	Objects int `json:"objects"`
	// ResourceVersion is the one that the store stands at; "" before the first sync. Of several
	// namespaces it is the oldest.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Reflector is the status of what reads the Source: its state, since when, its last error,
	// event and bookmark. Its ResourceVersion is that of the last event read; the store may be a
	// moment behind. Of several namespaces it is that of the one that is worst off: not synced, or
	// else recovering from a failure.
	Reflector reflector.Status `json:"reflector"`
	// Streams has each namespace that is read by requests of its own; one entry, for all of them,
	// unless WithNamespaces was given.
	Streams []StreamStatus `json:"streams"`
	// Handlers has the registrations in the order in which they were added.
	Handlers []HandlerStatus `json:"handlers,omitempty"`
}

// StreamStatus is how one of an informer's namespaces is doing.
type StreamStatus struct {
	// Namespace is "" if the stream is all that the informer reads.
	Namespace string `json:"namespace,omitempty"`
	// Synced reports whether the first full state of the namespace is in the store.
	Synced bool `json:"synced"`
	// Objects is the number of its objects in the store.
	Objects int `json:"objects"`
	// ResourceVersion is the one at which the namespace stands in the store; "" before the first
	// sync.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Reflector is the status of what reads it; see Status.Reflector.
	Reflector reflector.Status `json:"reflector"`
}

// String returns one line for people: what the informer is doing, with what is wrong, what it
// holds, and which handlers are behind.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.Name)
	switch {
	case !s.Running:
		b.WriteString("not running")
		if err := s.Reflector.LastError; err != nil && !s.Synced {
			fmt.Fprintf(&b, ": %v", err)
		}
	case len(s.Streams) < 2:
		b.WriteString(s.Reflector.String())
	default:
		for n, stream := range s.Streams {
			if n > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %v", stream.Namespace, stream.Reflector)
		}
	}
	if s.Synced {
		fmt.Fprintf(&b, "; synced, %d objects at resourceVersion %s", s.Objects, s.ResourceVersion)
	} else {
		b.WriteString("; not synced")
	}
	for _, h := range s.Handlers {
		if h.Backlog > 0 || h.Callback != "" {
			fmt.Fprintf(&b, "; %v", h)
		}
	}
	return b.String()
}

// HandlerStatus is how one handler keeps up.
type HandlerStatus struct {
	// Name is what logs and errors call the handler.
	Name string
	// Synced reports whether the handler has seen the initial objects.
	Synced bool
	// Backlog is how many events wait, without the one that is being handled. Merged events count
	// as one.
	Backlog int
	// Merging says that the handler has fallen behind its threshold and has not caught up since.
	Merging bool
	// Callback is the method that is running, "OnAdd", "OnUpdate" or "OnDelete"; "" if none is. Key
	// is the object that it was called for, and Since the time of the call; if those before it were
	// quick, that of one of the 15 before it.
	Callback string
	Key      object.Key
	Since    time.Time
}

// String returns a few words for people: `handler "billing" is in OnAdd of shop/blue for 3s, 12
// waiting, merging`.
func (s HandlerStatus) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "handler %q", s.Name)
	if s.Callback == "" {
		b.WriteString(" is idle")
	} else {
		fmt.Fprintf(&b, " is in %s of %s for %v", s.Callback, s.Key, time.Since(s.Since).Round(time.Millisecond))
	}
	fmt.Fprintf(&b, ", %d waiting", s.Backlog)
	if s.Merging {
		b.WriteString(", merging")
	}
	return b.String()
}

// MarshalJSON returns an object with the key as text, and since when and for how long the callback
// has been running; what does not apply is left out.
func (s HandlerStatus) MarshalJSON() ([]byte, error) {
	text := struct {
		Name     string    `json:"name"`
		Synced   bool      `json:"synced"`
		Backlog  int       `json:"backlog"`
		Merging  bool      `json:"merging,omitempty"`
		Callback string    `json:"callback,omitempty"`
		Key      string    `json:"key,omitempty"`
		Since    time.Time `json:"since,omitzero"`
		For      string    `json:"for,omitempty"`
	}{Name: s.Name, Synced: s.Synced, Backlog: s.Backlog, Merging: s.Merging}
	if s.Callback != "" {
		text.Callback, text.Key, text.Since = s.Callback, s.Key.String(), s.Since.UTC()
		text.For = time.Since(s.Since).Round(time.Millisecond).String()
	}
	return json.Marshal(text)
}

// --- private from here ---

func statusOf(e *engine.Informer) Status {
	s := Status{Name: e.Name(), Running: e.Claimed(), Synced: e.HasSynced()}
	worst := -1
	for _, stream := range e.Streams() {
		s.Streams = append(s.Streams, StreamStatus(stream))
		bad := 0
		if stream.Reflector.Reason != reflector.ReasonNone {
			bad++
		}
		if !stream.Synced {
			bad += 2
		}
		if bad > worst {
			worst, s.Reflector = bad, stream.Reflector
		}
	}
	version := e.Table().Version()
	s.Objects, s.ResourceVersion = version.Len(), version.ResourceVersion()
	for _, h := range e.Handlers() {
		s.Handlers = append(s.Handlers, HandlerStatus(h))
	}
	return s
}
