// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Config configures a Reflector. Source and Sink are required; the zero value of every other field
// means its default.
type Config[T object.Object] struct {
	// Name is the name of the collection in logs and errors, for example "widgets.samples.io/v1".
	// "" means the result of Source's String method, if it has one, else its type.
	Name string
	// Source is the collection to read.
	Source source.Source[T]
	// Sink receives the objects.
	Sink Sink[T]

	Tuning

	// Optional means that the server may not have the resource, as before its
	// CustomResourceDefinition is installed, or after it was deleted. A 404 is then no failure but
	// StateAbsent: it goes to the log once, as information, and not to OnError. The reflector asks
	// again after Backoff.Max, less the random part, until the server has the resource. The Sink
	// keeps its objects meanwhile.
	Optional bool
	// Logger is used for all logging. The zero Logger means the one of Run's context
	// (klog.FromContext).
	Logger klog.Logger
	// OnError, if not nil, is called with each failure of a list or watch, on Run's goroutine,
	// before the wait that follows. It must not block. Failures include expired versions (410) and
	// watches silent for SilenceTimeout, but not a normal end of a stream.
	OnError func(error)
	// Restore, if not nil, is called at the beginning of Run, on its goroutine, if the Sink has had
	// no full state yet. It passes the objects of a full state kept from an earlier process to
	// replace, and returns their version. With "", the reflector reads a full state from the
	// server, as without Restore. An error of replace means that Run is about to end.
	Restore func(ctx context.Context, replace func(T) error) (resourceVersion string)
	// OnState, if not nil, is called on Run's goroutine with each new State, after Status has it.
	// It must not block. It may call Status.
	OnState func(State)
}

// Tuning sets how a Reflector reads and how patient it is. The zero value of a field means its
// default.
type Tuning struct {
	// PageSize makes every list a read of the most recent state, in pages of that many objects.
	// With 0, the server may answer from its cache, at less cost. A watch-list has no pages: to
	// list in pages from the start, set DisableWatchList too.
	PageSize int64
	// DisableWatchList makes the reflector read the existing objects by list only, never by
	// watch-list.
	DisableWatchList bool

	// InitialEventsTimeout is the longest silence in a watch-list (no further initial object, nor
	// the bookmark after them) before this round falls back to a list. 0 means 10 s. Objects left
	// out by the Source are no silence, here and in lists, if it calls Skipped for them.
	InitialEventsTimeout time.Duration
	// WatchTimeout is the shortest duration requested for a watch; each watch asks for a random one
	// between WatchTimeout and twice that. 0 means 5 minutes.
	WatchTimeout time.Duration
	// SilenceTimeout is the longest time without an event or bookmark in a watch, or without an
	// object in a list, before the reflector gives it up and begins it anew. API servers send a
	// bookmark each minute if anything has changed, so a silent watch is dead, or nothing has
	// changed. 0 means 3 minutes.
	SilenceTimeout time.Duration
	// Backoff sets the waits before retries.
	Backoff Backoff
}

// Backoff sets the waits before retries. The n-th wait in a row lasts Initial·2ⁿ⁻¹, at most Max,
// minus a random part of it, at most Jitter.
type Backoff struct {
	// Initial is the first wait. 0 means 800 ms.
	Initial time.Duration
	// Max is the longest wait. 0 means 30 s.
	Max time.Duration
	// Jitter is the largest part of a wait to subtract, at most 1. 0 means 0.5; a negative value
	// means none.
	Jitter float64
	// ResetAfter is how long a watch has to be open to make the next failure count as the first
	// one, with the first wait. 0 means 2 minutes.
	ResetAfter time.Duration
}

func (c Config[T]) withDefaults() Config[T] {
	if c.Name == "" {
		if s, ok := c.Source.(fmt.Stringer); ok {
			c.Name = s.String()
		} else {
			c.Name = fmt.Sprintf("%T", c.Source)
		}
	}
	c.Tuning = c.Tuning.withDefaults()
	return c
}

func (t Tuning) withDefaults() Tuning {
	if t.InitialEventsTimeout == 0 {
		t.InitialEventsTimeout = 10 * time.Second
	}
	if t.WatchTimeout == 0 {
		t.WatchTimeout = 5 * time.Minute
	}
	if t.SilenceTimeout == 0 {
		t.SilenceTimeout = 3 * time.Minute
	}
	t.Backoff = t.Backoff.withDefaults()
	return t
}

func (c Config[T]) validate() error {
	switch {
	case c.Source == nil:
		return errors.New("nothing to read: Config.Source is nil")
	case c.Sink == nil:
		return errors.New("Config.Sink is nil")
	}
	return c.Tuning.Validate()
}

// Validate returns New's error about t, or nil. Negative numbers are errors, except for
// Backoff.Jitter, and so is a Backoff whose fields contradict each other.
func (t Tuning) Validate() error {
	t = t.withDefaults()
	if t.PageSize < 0 {
		return fmt.Errorf("negative Tuning.PageSize %d; 0 means its default", t.PageSize)
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"InitialEventsTimeout", t.InitialEventsTimeout},
		{"WatchTimeout", t.WatchTimeout},
		{"SilenceTimeout", t.SilenceTimeout},
		{"Backoff.Initial", t.Backoff.Initial},
		{"Backoff.Max", t.Backoff.Max},
		{"Backoff.ResetAfter", t.Backoff.ResetAfter},
	} {
		if d.value < 0 {
			return fmt.Errorf("negative Tuning.%s %v; 0 means its default", d.field, d.value)
		}
	}
	return t.Backoff.validate()
}
