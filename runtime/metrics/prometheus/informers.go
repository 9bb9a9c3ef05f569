// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"
	"strconv"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

type informerState = metrics.InformerState

func informerDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("informer_"+name, help, append([]string{"informer"}, labels...), nil)
}

var eventsDesc = informerDesc("events_total", "Events of watches, by type.", "type")

var informerMetrics = []metric[informerState]{
	gauge(informerDesc("objects", "Objects in the store."), sum, func(s *informerState) float64 { return float64(s.Objects) }),
	gauge(informerDesc("synced", "1 if the store has a full state, else 0."), math.Min, func(s *informerState) float64 { return oneIf(s.Synced) }),
	gauge(informerDesc("watching", "1 if the watch is open, else 0."), math.Min, func(s *informerState) float64 { return oneIf(s.Watching) }),
	gauge(informerDesc("consecutive_failures", "Failures in a row; 0 while all is well."), math.Max,
		func(s *informerState) float64 { return float64(s.Failures) }),
	gauge(informerDesc("resource_version", "The resourceVersion of the store."), math.Min,
		func(s *informerState) float64 { return number(s.ResourceVersion) }),
	gauge(informerDesc("last_event_timestamp_seconds", "Arrival time of the last object, in Unix time."), math.Min,
		func(s *informerState) float64 { return unix(s.LastEvent) }),
	gauge(informerDesc("last_bookmark_timestamp_seconds", "Arrival time of the last bookmark, in Unix time."), math.Min,
		func(s *informerState) float64 { return unix(s.LastBookmark) }),
	gauge(informerDesc("queued_events", "Events and objects read but not yet applied to the store."), sum,
		func(s *informerState) float64 { return float64(s.Queued) }),
	total(eventsDesc, func(s *informerState) int64 { return s.Events.Added }, "added"),
	total(eventsDesc, func(s *informerState) int64 { return s.Events.Modified }, "modified"),
	total(eventsDesc, func(s *informerState) int64 { return s.Events.Deleted }, "deleted"),
	total(eventsDesc, func(s *informerState) int64 { return s.Events.Bookmark }, "bookmark"),
	total(informerDesc("listed_objects_total", "Objects of lists and initial objects of watch-lists."), func(s *informerState) int64 { return s.Listed }),
	total(informerDesc("relists_total", "Full states read after the first one."), func(s *informerState) int64 { return s.Relists }),
	total(informerDesc("bad_data_total", "Responses that could not be decoded or transformed."), func(s *informerState) int64 { return s.BadData }),

	ofCheckpoint(math.Max, "failing", "1 if the last write of a checkpoint failed, else 0.",
		func(c *metrics.CheckpointState) float64 { return oneIf(c.Failing) }),
	ofCheckpoint(math.Min, "timestamp_seconds", "When the checkpoint was written, in Unix time.",
		func(c *metrics.CheckpointState) float64 { return unix(c.Saved) }),
	ofCheckpoint(sum, "bytes", "Size of the checkpoint.", func(c *metrics.CheckpointState) float64 { return float64(c.Bytes) }),
	ofCheckpoint(nil, "writes_total", "Number of checkpoints written.", func(c *metrics.CheckpointState) float64 { return float64(c.Writes) }),
	ofCheckpoint(nil, "written_bytes_total", "Bytes of the written checkpoints.",
		func(c *metrics.CheckpointState) float64 { return float64(c.Written) }),
	ofCheckpoint(nil, "write_seconds_total", "Time spent writing checkpoints.", func(c *metrics.CheckpointState) float64 { return c.WriteTime.Seconds() }),
	ofCheckpoint(nil, "write_failures_total", "Failed writes of a checkpoint.",
		func(c *metrics.CheckpointState) float64 { return float64(c.WriteFailures) }),
	ofCheckpoint(nil, "restored_objects_total", "Objects restored from a checkpoint.", func(c *metrics.CheckpointState) float64 { return float64(c.Restored) }),
}

// ofCheckpoint returns a metric without a value for informers without a checkpoint.
func ofCheckpoint(merge func(a, b float64) float64, name, help string, value func(*metrics.CheckpointState) float64) metric[informerState] {
	return metric[informerState]{desc: informerDesc("checkpoint_"+name, help), merge: merge, value: func(s *informerState) float64 {
		if !s.Checkpoint.Kept {
			return math.NaN()
		}
		return value(&s.Checkpoint)
	}}
}

// number returns the resourceVersion as a number, or NaN if a float64 can't represent it.
func number(version string) float64 {
	n, err := strconv.ParseUint(version, 10, 53)
	if err != nil {
		return math.NaN()
	}
	return float64(n)
}

type handlerState = metrics.HandlerState

func handlerGauge(merge func(a, b float64) float64, name, help string, value func(*handlerState) float64) metric[handlerState] {
	return gauge(informerDesc("handler_"+name, help, "handler"), merge, value)
}

var handlerMetrics = []metric[handlerState]{
	handlerGauge(math.Min, "synced", "1 if the handler has received the initial objects, else 0.", func(s *handlerState) float64 { return oneIf(s.Synced) }),
	handlerGauge(sum, "backlog_events", "Events that wait for the handler.", func(s *handlerState) float64 { return float64(s.Backlog) }),
	handlerGauge(math.Max, "merging", "1 while waiting events are merged, else 0.", func(s *handlerState) float64 { return oneIf(s.Merging) }),
	handlerGauge(math.Max, "lag_seconds", "How long the oldest event has waited; 0 if none waits.", func(s *handlerState) float64 { return age(s.WaitingSince) }),
	handlerGauge(math.Max, "running_seconds", "How long the oldest callback has been running, or 0.",
		func(s *handlerState) float64 { return age(s.CallbackSince) }),
}
