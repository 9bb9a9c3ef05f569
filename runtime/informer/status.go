// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Status is the state of an informer. In JSON, states, reasons, errors, keys and durations are
// text.
type Status struct {
	// Name is the name of the informer in logs and errors.
	Name string `json:"name"`
	// Running reports whether the informer has a lease, or its last run has not ended yet. Until
	// the reflector's first step, Reflector.State is still StateStopped.
	Running bool `json:"running"`
	// Synced reports whether the first full state is in the store.
	Synced bool `json:"synced"`
	// Objects is the number of objects in the store.
	Objects int `json:"objects"`
	// ResourceVersion is the store's resourceVersion, "" before the first sync. With several
	// namespaces it is the oldest of theirs.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Reflector is the status of the reflector, which reads the Source. Its ResourceVersion is that
	// of the last event read; the store may be a moment behind. With several namespaces it is the
	// status of the worst one: one that has not synced, or else one that is recovering from a
	// failure. Namespaces counts as one of them.
	Reflector reflector.Status `json:"reflector"`
	// Namespaces is the state of the list of namespaces of [WithNamespaceSelector], or of all
	// namespaces with [WithRing]; else nil.
	Namespaces *NamespacesStatus `json:"namespaces,omitempty"`
	// Ring is the part of the ring that the informer reads; nil without [WithRing].
	Ring *RingStatus `json:"ring,omitempty"`
	// Streams has one entry for each namespace given to [WithNamespace], then for each added one;
	// without that option, one entry in all. With [WithNamespaceSelector] or [WithRing], it has one
	// for each namespace that is read, or none.
	Streams []StreamStatus `json:"streams"`
	// Handlers has the registrations in the order in which they were added.
	Handlers []HandlerStatus `json:"handlers,omitempty"`
}

// WaitsForResource reports whether the informer has not synced only because the server doesn't have
// its resource; see [WithOptionalResource].
func (s Status) WaitsForResource() (waits bool) {
	for _, stream := range s.Streams {
		if !stream.Synced {
			if stream.Reflector.State != reflector.StateAbsent {
				return false
			}
			waits = true
		}
	}
	return waits
}

// NamespacesStatus is the state of the list of namespaces of [WithNamespaceSelector].
type NamespacesStatus struct {
	// Name is the name of the list in logs and errors: "namespaces matching env=prod".
	Name string `json:"name"`
	// Synced reports whether the first list of namespaces has arrived.
	Synced bool `json:"synced"`
	// Reflector is the status of the reflector that reads the list; see Status.Reflector.
	Reflector reflector.Status `json:"reflector"`
}

// StreamStatus is the state of one of an informer's namespaces.
type StreamStatus struct {
	// Namespace is the stream's namespace, as given to [WithNamespace] or AddNamespace; "" if none
	// was given, and for informers made by [New].
	Namespace string `json:"namespace,omitempty"`
	// Synced reports whether the first full state of the namespace is in the store.
	Synced bool `json:"synced"`
	// Objects is the number of its objects in the store.
	Objects int `json:"objects"`
	// ResourceVersion is the namespace's resourceVersion in the store, "" before the first sync.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Reflector is the status of the namespace's reflector; see Status.Reflector.
	Reflector reflector.Status `json:"reflector"`

	// CheckpointVersion is the resourceVersion of the checkpoint last read or written by the
	// process, CheckpointTime when it was written, and CheckpointBytes its size; see
	// [WithCheckpoint]. They are zero without one. Reflector.Restored is the version of the
	// checkpoint with which the stream began.
	CheckpointVersion string    `json:"checkpointVersion,omitempty"`
	CheckpointTime    time.Time `json:"checkpointTime,omitzero"`
	CheckpointBytes   int64     `json:"checkpointBytes,omitempty"`
	// CheckpointError says why the last write of the checkpoint failed, or that the disk has taken
	// more than 30 seconds over it; "" if it succeeded.
	CheckpointError string `json:"checkpointError,omitempty"`
}

// String returns one line for people: the informer's state, any failure, its number of objects, and
// handlers that are behind.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", s.Name)
	switch {
	case !s.Running:
		b.WriteString("not running")
		if err := s.Reflector.LastError; err != nil && !s.Synced {
			fmt.Fprintf(&b, ": %v", err)
		}
	case len(s.Streams) == 0 && s.Ring != nil && s.Ring.Wanted == 0:
		b.WriteString("no buckets")
	case len(s.Streams) == 0 && s.Namespaces == nil:
		b.WriteString("no namespaces")
	case len(s.Streams) == 1 && s.Namespaces == nil:
		b.WriteString(s.Reflector.String())
	default:
		var parts []string
		if s.Namespaces != nil {
			parts = append(parts, fmt.Sprintf("%s %v", s.Namespaces.Name, s.Namespaces.Reflector))
		}
		for _, stream := range s.Streams {
			parts = append(parts, fmt.Sprintf("%s %v", stream.Namespace, stream.Reflector))
		}
		b.WriteString(strings.Join(parts, "; "))
	}
	if s.Ring != nil {
		fmt.Fprintf(&b, "; %d of %d wanted buckets loaded", s.Ring.Loaded, s.Ring.Wanted)
		if s.Ring.Mode != "" {
			fmt.Fprintf(&b, " (mode %s)", s.Ring.Mode)
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

// HandlerStatus is the progress of one handler.
type HandlerStatus struct {
	// Name is the name of the handler in logs and errors.
	Name string
	// Synced reports whether the handler has got the initial objects.
	Synced bool
	// Backlog is the number of waiting events, without the one being handled. Merged events count
	// as one.
	Backlog int
	// WaitingSince is when the oldest waiting event was published; the zero time if none waits.
	WaitingSince time.Time
	// Merging reports whether the handler has fallen behind its threshold and not caught up since.
	Merging bool
	// Callback is the running method, "OnAdd", "OnUpdate" or "OnDelete"; "" if none is. Key is the
	// key of its object. Since is the time of the call.
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

// MarshalJSON returns a JSON object with the key as text, the start and duration of the running
// callback, and the age of the oldest waiting event, as lag. It leaves out whatever does not apply.
func (s HandlerStatus) MarshalJSON() ([]byte, error) {
	text := struct {
		Name         string    `json:"name"`
		Synced       bool      `json:"synced"`
		Backlog      int       `json:"backlog"`
		WaitingSince time.Time `json:"waitingSince,omitzero"`
		Lag          string    `json:"lag,omitempty"`
		Merging      bool      `json:"merging,omitempty"`
		Callback     string    `json:"callback,omitempty"`
		Key          string    `json:"key,omitempty"`
		Since        time.Time `json:"since,omitzero"`
		For          string    `json:"for,omitempty"`
	}{Name: s.Name, Synced: s.Synced, Backlog: s.Backlog, Merging: s.Merging}
	if !s.WaitingSince.IsZero() {
		text.WaitingSince, text.Lag = s.WaitingSince.UTC(), time.Since(s.WaitingSince).Round(time.Millisecond).String()
	}
	if s.Callback != "" {
		text.Callback, text.Key, text.Since = s.Callback, s.Key.String(), s.Since.UTC()
		text.For = time.Since(s.Since).Round(time.Millisecond).String()
	}
	return json.Marshal(text)
}

// Mutation is a change of an object that is, or was, in a cache, by code that should only have read
// it; see [WithMutationDetector]. It has no value of the object, which may be a Secret.
type Mutation struct {
	// Informer is the name of the object's informer.
	Informer string
	// Key, UID and ResourceVersion identify the object, as it was stored.
	Key             object.Key
	UID             types.UID
	ResourceVersion string
	// Path is the first field that differs, such as .spec.containers[2].image or
	// .metadata.labels["app"].
	Path string
	// Handler is the handler during whose callback the object was changed; "" if unknown, as for
	// changes by other goroutines. Another goroutine that used the object at that time may have
	// changed it instead.
	Handler string
}

// Error returns one line: what happened and what to do.
func (m Mutation) Error() string { return mutation.Mutation(m).Error() }
