// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// StreamStatus is the state of one stream.
type StreamStatus struct {
	Namespace       string // "": all
	Synced          bool   // the first full state is in the table
	Objects         int    // in the table
	ResourceVersion string // at which the stream stands in the table
	Reflector       reflector.Status

	// The state on disk, as last read or written by the process:
	CheckpointVersion string // "": nothing
	CheckpointTime    time.Time
	CheckpointBytes   int64  // its size
	CheckpointError   string // of the last write; "" if it succeeded, or goes on
}

// Streams returns the status of each stream, in the order of Config.Streams, then of added ones.
// For a broken informer it returns one status, with the error.
func (i *Informer) Streams() []StreamStatus {
	if i.initErr != nil {
		return []StreamStatus{{Reflector: reflector.Status{LastError: i.initErr}}}
	}
	streams := i.streams()
	all := make([]StreamStatus, len(streams))
	for n, s := range streams {
		// Read the reflector's status first, so that the table is not older.
		all[n] = StreamStatus{Namespace: s.Namespace(), Reflector: s.Status(), Synced: s.HasSynced()}
		version := i.table.Version()
		all[n].Objects, all[n].ResourceVersion = version.Namespace(s.Namespace()).Len(), s.ResourceVersion(version)
		saved, _, err := s.Disk()
		all[n].CheckpointVersion, all[n].CheckpointTime, all[n].CheckpointBytes = saved.ResourceVersion, saved.Saved, saved.Bytes
		if err != nil {
			all[n].CheckpointError = err.Error()
		}
	}
	return all
}

// Running reports whether the informer runs, is about to run, or has a run that has not ended yet.
func (i *Informer) Running() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.run != nil
}

// Handlers returns the status of each subscription, in the order in which they were added.
func (i *Informer) Handlers() []fanout.HandlerStatus {
	return i.handlers((*fanout.Subscription).Status)
}

// HandlersOf returns each subscription's status about one key.
func (i *Informer) HandlersOf(key object.Key) []fanout.HandlerStatus {
	return i.handlers(func(s *fanout.Subscription) fanout.HandlerStatus { return s.StatusOf(key) })
}

func (i *Informer) handlers(status func(*fanout.Subscription) fanout.HandlerStatus) []fanout.HandlerStatus {
	all := []fanout.HandlerStatus{}
	if i.initErr == nil {
		for _, s := range i.fanout.Subscriptions() {
			all = append(all, status(s))
		}
	}
	return all
}

// Obstacles returns what delays the end of a run: one line for each callback that has not returned
// and for each checkpoint being read or written, and at least one line.
func (i *Informer) Obstacles() []string {
	var lines []string
	for _, h := range i.Handlers() {
		if line := h.Obstacle(i.config.Name); line != "" {
			lines = append(lines, line)
		}
	}
	for _, s := range i.streams() {
		if operation := s.DiskOperation(); operation != "" {
			lines = append(lines, s.Name()+": "+operation)
		}
	}
	if lines == nil {
		lines = append(lines, i.config.Name+": Run has not returned")
	}
	return lines
}
