// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// Provider receives the metrics of informers. It serves any number of informers, even several of
// one name.
type Provider interface {
	// BeginInformer is called when a run of an informer begins. read returns the informer's state.
	// The result must not be nil.
	BeginInformer(name string, read func() InformerState) InformerRecorder
}

// InformerRecorder receives the durations and failures of one run of an informer.
type InformerRecorder interface {
	// ListDone is called after each complete list, with all its pages, or complete set of initial
	// events of a watch-list. took runs from the request to the last object.
	ListDone(took time.Duration, objects int)
	// WatchDone is called when a watch accepted by the server has ended, for any reason. lasted
	// runs from the acceptance or, for a watch-list, from the end of its initial events. events is
	// the number of events in that time, including bookmarks.
	WatchDone(lasted time.Duration, events int)
	// BatchDone is called after a batch of changes was published. took is the time to apply and
	// publish it.
	BatchDone(took time.Duration, changes int)
	// Failed is called for each failure of a list or watch. reason is a text of reason.Reason.
	Failed(reason string)
	// BeginHandler is called when a registration begins to get events in this run. read returns the
	// handler's state. The result must not be nil. Several registrations may share a name.
	BeginHandler(name string, read func() HandlerState) HandlerRecorder
	// Close is called once, at the end of the run, after all other calls.
	Close()
}

// HandlerRecorder receives the callbacks of one registration in one run.
type HandlerRecorder interface {
	// CallbackDone is called after each callback, also if it panicked.
	CallbackDone(took time.Duration, panicked bool)
	// Close is called once, after the last CallbackDone, when the registration gets no more events
	// in this run.
	Close()
}

// InformerState is the state of an informer. If it reads several namespaces, each has a stream, and
// a field is the sum of all streams or the value of the worst one, as its comment says.
type InformerState struct {
	// Objects is the number of objects in the store.
	Objects int
	// Synced reports whether a full state of every stream is in the store.
	Synced bool
	// Watching reports whether every stream has an open watch that is past its initial events.
	//
	// A stream whose optional resource doesn't exist counts as synced and watching.
	Watching bool
	// Failures is the highest number of consecutive failures of a stream; 0 if none fails.
	Failures int
	// Queued is the number of objects and events, of all streams, that were read but not yet
	// applied.
	Queued int
	// ResourceVersion is the resourceVersion of the store, from the stream that is furthest behind;
	// "" until every stream has one.
	ResourceVersion string
	// LastEvent and LastBookmark are the times of the last object and the last bookmark, of the
	// stream with the earliest one. The zero time means never.
	LastEvent, LastBookmark time.Time

	// The totals below start at 0 when the informer is made, count over all its runs, and never
	// decrease.

	// Events counts the events of watches, without the initial events of watch-lists.
	Events EventTotals
	// Listed counts the objects of lists and of the initial events of watch-lists.
	Listed int64
	// Relists counts the full states read after the first one.
	Relists int64
	// BadData counts the responses that could not be decoded or transformed.
	BadData int64
	// Checkpoint describes the files of informer.WithCheckpoint.
	Checkpoint CheckpointState
}

// CheckpointState is the state of an informer's files for the next process, one for each stream.
type CheckpointState struct {
	// Kept reports whether the informer has checkpoints. Otherwise all fields are zero.
	Kept bool
	// Failing reports whether the last write of a file failed.
	Failing bool
	// Saved is the time of the last write, of the stream with the earliest one. The zero time means
	// that some stream has no file.
	Saved time.Time
	// Bytes is the size of the files.
	Bytes int64

	// The fields below are totals, as in InformerState.

	// Writes counts the files written, Written their bytes, and WriteTime the time it took. A write
	// of only the resourceVersion, when nothing else has changed, does not count.
	Writes, Written int64
	WriteTime       time.Duration
	// WriteFailures counts failed attempts to write.
	WriteFailures int64
	// Restored counts the objects that came from files instead of the server.
	Restored int64
}

// EventTotals counts the events of watches by type.
type EventTotals struct {
	Added, Modified, Deleted, Bookmark int64
}

// HandlerState is the state of one registration of a handler.
type HandlerState struct {
	// Synced reports whether the handler has received the initial objects.
	Synced bool
	// Backlog is the number of waiting events, without the one being handled. Merged events count
	// as one.
	Backlog int
	// Merging reports whether the handler fell behind its threshold and has not caught up since.
	Merging bool
	// WaitingSince is the publication time of the oldest waiting event, or zero.
	WaitingSince time.Time
	// CallbackSince is the start of the running callback, or zero.
	CallbackSince time.Time
}
