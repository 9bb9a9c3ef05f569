// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// Provider gets the metrics of informers. One Provider serves any number of informers, also several
// of the same name.
type Provider interface {
	// BeginInformer is called when a run of an informer begins. read returns the state of the
	// informer. The result must not be nil; the informer calls its methods, and Close at the end of
	// the run.
	BeginInformer(name string, read func() InformerState) InformerRecorder
}

// InformerRecorder gets the durations and failures of one run of an informer.
type InformerRecorder interface {
	// ListDone is called after each complete list (of all its pages) or complete set of initial
	// events of a watch-list. took runs from the request to the last object.
	ListDone(took time.Duration, objects int)
	// WatchDone is called when a watch that the server had accepted has ended, for any reason.
	// lasted runs from the moment of acceptance, or, for a watch-list, from the end of its initial
	// events. events is the number of events in that time, including bookmarks.
	WatchDone(lasted time.Duration, events int)
	// BatchDone is called after a batch of changes was published. took is the time that it took to
	// apply and publish it.
	BatchDone(took time.Duration, changes int)
	// Failed is called for each failure of a list or watch. reason is one of the texts of
	// reason.Reason.
	Failed(reason string)
	// BeginHandler is called when a registration begins to get events in this run. read returns the
	// state of the handler. The result must not be nil. Several registrations may have the same
	// name.
	BeginHandler(name string, read func() HandlerState) HandlerRecorder
	// Close is called once, at the end of the run, after all other calls.
	Close()
}

// HandlerRecorder gets the callbacks of one registration in one run.
type HandlerRecorder interface {
	// CallbackDone is called each time that a callback has returned or has panicked.
	CallbackDone(took time.Duration, panicked bool)
	// Close is called once, after the last CallbackDone, when the registration gets no more events
	// in this run.
	Close()
}

// InformerState is the state of an informer. For an informer that reads several namespaces, each
// with a stream of its own, a field is the sum of all streams or the value of the worst one, as its
// comment says.
type InformerState struct {
	// Objects is the number of objects in the store.
	Objects int
	// Synced reports whether a full state of every stream is in the store.
	Synced bool
	// Watching reports whether every stream has an open watch that is past its initial events.
	Watching bool
	// Failures is the number of failures in a row of the stream that has most; 0 if none fails.
	Failures int
	// Queued is how many objects and events have been read and not yet applied, of all streams.
	Queued int
	// ResourceVersion is the resourceVersion of the store: that of the stream that is furthest
	// behind, "" until every stream has one.
	ResourceVersion string
	// LastEvent and LastBookmark are when the last object and the last bookmark came in, of the
	// stream for which that is longest ago. The zero time means never.
	LastEvent, LastBookmark time.Time

	// What follows are totals. They begin at 0 when the informer is made, count over all its runs,
	// and never go down.

	// Events counts the events of watches. The initial events of watch-lists are not among them.
	Events EventTotals
	// Listed counts the objects of lists and of the initial events of watch-lists.
	Listed int64
	// Relists counts the full states that were read after the first one.
	Relists int64
	// BadData counts the responses that could not be decoded or transformed.
	BadData int64
	// Checkpoint is about the files of informer.WithCheckpoint.
	Checkpoint CheckpointState
}

// CheckpointState is what an informer keeps on disk for the next process. Each stream has a file.
type CheckpointState struct {
	// Kept reports whether the informer has checkpoints; if it doesn't, all else is zero.
	Kept bool
	// Failing reports whether a file could not be written the last time.
	Failing bool
	// Saved is when the files were written, of the stream for which that is longest ago. The zero
	// time means that there is none of some stream.
	Saved time.Time
	// Bytes is the size of the files.
	Bytes int64

	// What follows are totals, as those of InformerState.

	// Writes counts the files that were written, Written their bytes, and WriteTime the time that
	// it took. When nothing but the resourceVersion has changed, only that is written; it does not
	// count.
	Writes, Written int64
	WriteTime       time.Duration
	// WriteFailures counts the attempts to write that have failed.
	WriteFailures int64
	// Restored counts the objects that came from files in place of the server.
	Restored int64
}

// EventTotals counts the events of watches by type.
type EventTotals struct {
	Added, Modified, Deleted, Bookmark int64
}

// HandlerState is the state of one registration of a handler.
type HandlerState struct {
	// Synced reports whether the handler has got the initial objects.
	Synced bool
	// Backlog is how many events wait, without the one that is being handled. Merged events count
	// as one.
	Backlog int
	// Merging reports whether the handler has fallen behind its threshold and has not caught up
	// since.
	Merging bool
	// WaitingSince is when the oldest of the events that wait was published; the zero time if none
	// waits.
	WaitingSince time.Time
	// CallbackSince is when the running callback was called; the zero time if none is running.
	CallbackSince time.Time
}
