// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// Status is what an informer is doing.
type Status struct {
	// Name is what logs and errors call the informer.
	Name string
	// Running says whether a Run has been called and has not returned. Until the reflector's first step, Reflector.State
	// is still StateStopped.
	Running bool
	// Synced says whether the first full state is in the store.
	Synced bool
	// Objects is the number of objects in the store.
	Objects int
	// ResourceVersion is the one that the store stands at; "" before the first sync.
	ResourceVersion string
	// Reflector is the status of what reads the Source: its state, since when, its last error, event and bookmark. Its
	// ResourceVersion is that of the last event read; the store may be a moment behind.
	Reflector reflector.Status
	// Handlers has the registrations in the order in which they were added.
	Handlers []HandlerStatus
}

// HandlerStatus is how one handler keeps up.
type HandlerStatus struct {
	// Name is what logs and errors call the handler.
	Name string
	// Synced says whether the handler has seen the initial objects.
	Synced bool
	// Backlog is how many events wait, without the one that is being handled. Merged events count as one.
	Backlog int
	// Merging says that the handler has fallen behind its threshold and has not caught up since.
	Merging bool
	// Callback is the method that is running, "OnAdd", "OnUpdate" or "OnDelete"; "" if none is. Key is the object that it
	// was called for, and Since the time of the call.
	Callback string
	Key      object.Key
	Since    time.Time
}

// --- private from here ---

func statusOf(e *engine.Informer) Status {
	s := Status{Name: e.Name(), Running: e.Claimed(), Synced: e.HasSynced(), Reflector: e.Reflector()}
	version := e.Table().Version()
	s.Objects, s.ResourceVersion = version.Len(), version.ResourceVersion()
	for _, h := range e.Handlers() {
		s.Handlers = append(s.Handlers, HandlerStatus(h))
	}
	return s
}
