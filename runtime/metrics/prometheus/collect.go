// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"slices"
	"strconv"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// The metrics that are read when they are collected:
var (
	objectsDesc         = describe("objects", "Objects in the store.")
	syncedDesc          = describe("synced", "1 if the store has a full state, else 0.")
	watchingDesc        = describe("watching", "1 if the watch is open, else 0.")
	failuresDesc        = describe("consecutive_failures", "Failures in a row; 0 while all is well.")
	resourceVersionDesc = describe("resource_version", "The version that the store stands at.")
	lastEventDesc       = describe("last_event_timestamp_seconds", "When the last object came in, in Unix time.")
	lastBookmarkDesc    = describe("last_bookmark_timestamp_seconds", "When the last bookmark came in, in Unix time.")
	queuedDesc          = describe("queued_events", "Events and objects that were read but not yet applied to the store.")
	eventsDesc          = describe("events_total", "Events of watches, by type.", "type")
	listedDesc          = describe("listed_objects_total", "Objects of lists and initial objects of watch-lists.")
	relistsDesc         = describe("relists_total", "Full states that were read after the first one.")
	badDataDesc         = describe("bad_data_total", "Answers that could not be decoded or transformed.")

	handlerSyncedDesc  = describe("handler_synced", "1 if the handler has seen the initial objects, else 0.", "handler")
	handlerBacklogDesc = describe("handler_backlog_events", "Events that wait for the handler.", "handler")
	handlerMergingDesc = describe("handler_merging", "1 while the events that wait are merged, else 0.", "handler")
	handlerLagDesc     = describe("handler_lag_seconds", "How long the oldest event has waited; 0 if none waits.", "handler")
	handlerRunningDesc = describe("handler_running_seconds", "How long the oldest callback has been running, or 0.", "handler")
)

var descs = []*prom.Desc{
	objectsDesc, syncedDesc, watchingDesc, failuresDesc, resourceVersionDesc, lastEventDesc, lastBookmarkDesc, queuedDesc,
	eventsDesc, listedDesc, relistsDesc, badDataDesc,
	handlerSyncedDesc, handlerBacklogDesc, handlerMergingDesc, handlerLagDesc, handlerRunningDesc,
}

func describe(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("informer_"+name, help, append([]string{"informer"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (p *Provider) Describe(ch chan<- *prom.Desc) {
	for _, desc := range slices.Concat(descs, checkpointDescs) {
		ch <- desc
	}
	for _, vec := range []prom.Collector{
		p.perInformer.list, p.perInformer.watch, p.perInformer.batchChanges, p.perInformer.batchSeconds, p.perInformer.failures,
		p.perHandler.callback, p.perHandler.panics,
	} {
		vec.Describe(ch)
	}
}

// Collect implements prometheus.Collector. It takes the locks of each running informer and handler,
// one after the other, for a moment.
func (p *Provider) Collect(ch chan<- prom.Metric) {
	for _, s := range p.running() {
		s.collect(ch)
	}
}

// running returns a copy of the series of running informers, whose states can be read without
// Provider.mu.
func (p *Provider) running() []informerView {
	p.mu.Lock()
	defer p.mu.Unlock()
	var views []informerView
	for _, s := range p.informers {
		if len(s.runs) == 0 {
			continue
		}
		view := informerView{name: s.name, runs: slices.Clone(s.runs), ended: s.ended}
		view.written = append(view.written, s.list, s.watch, s.batchChanges, s.batchSeconds)
		for _, counter := range s.failures {
			view.written = append(view.written, counter)
		}
		for _, h := range s.handlers {
			if len(h.runs) > 0 {
				view.handlers = append(view.handlers, handlerView{name: h.name, runs: slices.Clone(h.runs)})
				view.written = append(view.written, h.callback, h.panics)
			}
		}
		views = append(views, view)
	}
	return views
}

// informerView is one informerSeries at one moment.
type informerView struct {
	name     string
	runs     []*informerRun // at least one
	ended    metrics.InformerState
	handlers []handlerView
	written  []prom.Metric
}

type handlerView struct {
	name string
	runs []*handlerRun // at least one
}

func (v *informerView) collect(ch chan<- prom.Metric) {
	for _, metric := range v.written {
		ch <- metric
	}
	emit := func(desc *prom.Desc, typ prom.ValueType, value float64, labels ...string) {
		ch <- prom.MustNewConstMetric(desc, typ, value, append([]string{v.name}, labels...)...)
	}
	s := v.state()
	emit(objectsDesc, prom.GaugeValue, float64(s.Objects))
	emit(syncedDesc, prom.GaugeValue, oneIf(s.Synced))
	emit(watchingDesc, prom.GaugeValue, oneIf(s.Watching))
	emit(failuresDesc, prom.GaugeValue, float64(s.Failures))
	emit(queuedDesc, prom.GaugeValue, float64(s.Queued))
	if version, ok := number(s.ResourceVersion); ok {
		emit(resourceVersionDesc, prom.GaugeValue, float64(version))
	}
	if !s.LastEvent.IsZero() {
		emit(lastEventDesc, prom.GaugeValue, unix(s.LastEvent))
	}
	if !s.LastBookmark.IsZero() {
		emit(lastBookmarkDesc, prom.GaugeValue, unix(s.LastBookmark))
	}
	emit(eventsDesc, prom.CounterValue, float64(s.Events.Added), "added")
	emit(eventsDesc, prom.CounterValue, float64(s.Events.Modified), "modified")
	emit(eventsDesc, prom.CounterValue, float64(s.Events.Deleted), "deleted")
	emit(eventsDesc, prom.CounterValue, float64(s.Events.Bookmark), "bookmark")
	emit(listedDesc, prom.CounterValue, float64(s.Listed))
	emit(relistsDesc, prom.CounterValue, float64(s.Relists))
	emit(badDataDesc, prom.CounterValue, float64(s.BadData))
	collectCheckpoint(&s.Checkpoint, emit)

	for _, h := range v.handlers {
		s := h.state()
		emit(handlerSyncedDesc, prom.GaugeValue, oneIf(s.Synced), h.name)
		emit(handlerBacklogDesc, prom.GaugeValue, float64(s.Backlog), h.name)
		emit(handlerMergingDesc, prom.GaugeValue, oneIf(s.Merging), h.name)
		emit(handlerLagDesc, prom.GaugeValue, age(s.WaitingSince), h.name)
		emit(handlerRunningDesc, prom.GaugeValue, age(s.CallbackSince), h.name)
	}
}

// state returns the sum of the runs, or the worst of them.
func (v *informerView) state() metrics.InformerState {
	sum := v.runs[0].read()
	totals := v.ended
	addTotals(&totals, &sum, &v.runs[0].before)
	addCheckpoint(&totals.Checkpoint, &sum.Checkpoint)
	for _, run := range v.runs[1:] {
		s := run.read()
		addTotals(&totals, &s, &run.before)
		addCheckpoint(&totals.Checkpoint, &s.Checkpoint)
		sum.Objects += s.Objects
		sum.Synced = sum.Synced && s.Synced
		sum.Watching = sum.Watching && s.Watching
		sum.Failures = max(sum.Failures, s.Failures)
		sum.Queued += s.Queued
		sum.ResourceVersion = behind(sum.ResourceVersion, s.ResourceVersion)
		sum.LastEvent = earlier(sum.LastEvent, s.LastEvent)
		sum.LastBookmark = earlier(sum.LastBookmark, s.LastBookmark)
	}
	sum.Events, sum.Listed, sum.Relists, sum.BadData = totals.Events, totals.Listed, totals.Relists, totals.BadData
	sum.Checkpoint = totals.Checkpoint
	return sum
}

func (v *handlerView) state() metrics.HandlerState {
	sum := v.runs[0].read()
	for _, run := range v.runs[1:] {
		s := run.read()
		sum.Synced = sum.Synced && s.Synced
		sum.Backlog += s.Backlog
		sum.Merging = sum.Merging || s.Merging
		sum.WaitingSince = earlierSet(sum.WaitingSince, s.WaitingSince)
		sum.CallbackSince = earlierSet(sum.CallbackSince, s.CallbackSince)
	}
	return sum
}

// number returns the resourceVersion as a number that a float64 can represent.
func number(version string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(version, 10, 53)
	return n, err == nil
}

// behind returns the lower version, "" if one is not a number.
func behind(a, b string) string {
	x, ok := number(a)
	y, alsoOK := number(b)
	switch {
	case !ok || !alsoOK:
		return ""
	case x < y:
		return a
	}
	return b
}

// earlier returns the earlier time; the zero time is the earliest.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// earlierSet returns the earlier one of those that are not zero.
func earlierSet(a, b time.Time) time.Time {
	if a.IsZero() || b.IsZero() {
		return later(a, b)
	}
	return earlier(a, b)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, time.Since(since).Seconds())
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
