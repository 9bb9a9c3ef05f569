// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// HandlerStatus is how one subscription keeps up.
type HandlerStatus struct {
	Name         string
	Synced       bool
	Backlog      int
	WaitingSince time.Time
	Merging      bool
	Callback     string
	Key          object.Key
	Since        time.Time
}

// StreamStatus is how one stream is doing.
type StreamStatus struct {
	Namespace       string // "": all
	Synced          bool   // the first full state is in the table
	Objects         int    // in the table
	ResourceVersion string // at which the stream stands in the table
	Reflector       reflector.Status

	// What is on disk, as far as the process has read or written it:
	CheckpointVersion string // "": nothing
	CheckpointTime    time.Time
	CheckpointBytes   int64  // its size
	CheckpointError   string // of the last attempt to write it; "" if it has succeeded, or goes on
}

// Streams returns the status of each stream, in the order of Config.Streams, and then of those that
// were added. For a broken informer it returns one status, which has the error.
func (i *Informer) Streams() []StreamStatus {
	if i.broken != nil {
		return []StreamStatus{{Reflector: reflector.Status{LastError: i.broken}}}
	}
	streams := i.streams()
	all := make([]StreamStatus, len(streams))
	for n, s := range streams {
		// The reflector's status is read first, so that the table is not older than it.
		all[n] = StreamStatus{Namespace: s.namespace, Reflector: s.reader.Status(), Synced: s.HasSynced()}
		version := i.table.Version()
		all[n].Objects, all[n].ResourceVersion = version.Namespace(s.namespace).Len(), s.standsAt(version)
		saved, _, err := s.disk.status()
		all[n].CheckpointVersion, all[n].CheckpointTime, all[n].CheckpointBytes = saved.ResourceVersion, saved.Saved, saved.Bytes
		if err != nil {
			all[n].CheckpointError = err.Error()
		}
	}
	return all
}

// Claimed reports whether the informer runs, is about to run, or has a run that has not ended yet.
func (i *Informer) Claimed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.run != nil
}

// Handlers returns the status of each subscription, in the order in which they were added.
func (i *Informer) Handlers() []HandlerStatus {
	i.mu.Lock()
	subs := slices.Clone(i.subs)
	i.mu.Unlock()
	all := make([]HandlerStatus, len(subs))
	for n, s := range subs {
		all[n] = s.Status()
	}
	return all
}

// Status returns how the handler keeps up.
func (s *Subscription) Status() HandlerStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusLocked(s.informer.pool.view(s))
}

// statusLocked returns the status. v was taken while the caller held mu.
func (s *Subscription) statusLocked(v view) HandlerStatus {
	status := HandlerStatus{
		Name:    s.config.Name,
		Synced:  s.HasSynced(),
		Backlog: int(v.logged-s.took) + s.backlog.Len() + s.initialLocked(),
		Merging: s.slow.Load(),
	}
	if v.waits {
		status.Backlog++
	}
	if status.Backlog > 0 {
		status.WaitingSince = s.epoch.Add(s.oldestLocked(&v))
	}
	switch {
	case s.running.Type != 0:
		status.Callback, status.Key, status.Since = s.running.Type.Callback(), s.running.Key(), s.epoch.Add(s.since)
	case v.delivering:
		status.Callback, status.Key, status.Since = v.pending.Type.Callback(), v.pending.Key(), s.epoch.Add(v.pendingAt)
	}
	return status
}

// oldestLocked returns when the oldest of the events that wait was published. There must be one.
func (s *Subscription) oldestLocked(v *view) time.Duration {
	switch {
	case s.initialLocked() > 0:
		return s.replays[0].at
	case v.waits:
		return v.pendingAt
	case s.backlog.Len() > 0:
		return s.backlog.Since()
	case s.log.Len() > 0:
		_, at := s.log.Next()
		return at
	}
	return v.tailAt
}

// running returns a line about the callback that is running, "" if none is.
func (h HandlerStatus) running(i *Informer) string {
	if h.Callback == "" {
		return ""
	}
	return fmt.Sprintf("%s: handler %q has not returned from %s of %s for %v",
		i.config.Name, h.Name, h.Callback, h.Key, time.Since(h.Since).Round(time.Millisecond))
}

// Running returns what keeps a run from ending: one line for each callback that has not returned
// and for each checkpoint that is being read or written, and at least one line.
func (i *Informer) Running() []string {
	var lines []string
	for _, h := range i.Handlers() {
		if line := h.running(i); line != "" {
			lines = append(lines, line)
		}
	}
	for _, s := range i.streams() {
		if now := s.disk.now(); now != "" {
			lines = append(lines, s.name()+": "+now)
		}
	}
	if lines == nil {
		lines = append(lines, i.config.Name+": Run has not returned")
	}
	return lines
}
