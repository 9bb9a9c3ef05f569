// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// The vectors make the metrics that recorders write, and keep them for the next run of the same
// name. They are not registered: Collect picks the metrics of running informers.

type informerVecs struct {
	list, watch                *prom.HistogramVec
	batchChanges, batchSeconds *prom.HistogramVec
	failures                   *prom.CounterVec
}

type handlerVecs struct {
	callback *prom.HistogramVec
	panics   *prom.CounterVec
}

func newInformerVecs() informerVecs {
	return informerVecs{
		list: histograms("informer_list_duration_seconds", "Time from the request of a full state to its last object.",
			[]float64{0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300}, "informer"),
		watch: histograms("informer_watch_duration_seconds", "How long watches stayed open.",
			[]float64{1, 10, 60, 300, 600, 1800}, "informer"),
		batchChanges: histograms("informer_batch_changes", "Changes that were published in one step.",
			[]float64{1, 10, 100, 1000, 10000}, "informer"),
		batchSeconds: histograms("informer_batch_duration_seconds", "Time to apply and publish the changes of one step.",
			[]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1}, "informer"),
		failures: counters("informer_failures_total", "Failed lists and watches, by reason.", "informer", "reason"),
	}
}

func newHandlerVecs() handlerVecs {
	return handlerVecs{
		callback: histograms("informer_handler_callback_duration_seconds", "Duration of the handler's callbacks.",
			[]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}, "informer", "handler"),
		panics: counters("informer_handler_panics_total", "Callbacks of the handler that panicked.", "informer", "handler"),
	}
}

func newInformerSeries(name string, v *informerVecs) *informerSeries {
	return &informerSeries{
		name:         name,
		list:         child(v.list, name),
		watch:        child(v.watch, name),
		batchChanges: child(v.batchChanges, name),
		batchSeconds: child(v.batchSeconds, name),
		failures:     map[string]prom.Counter{},
		handlers:     map[string]*handlerSeries{},
	}
}

func newHandlerSeries(informer, name string, v *handlerVecs) *handlerSeries {
	return &handlerSeries{
		name:     name,
		callback: child(v.callback, informer, name),
		panics:   v.panics.WithLabelValues(informer, name),
	}
}

func histograms(name, help string, buckets []float64, labels ...string) *prom.HistogramVec {
	return prom.NewHistogramVec(prom.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func counters(name, help string, labels ...string) *prom.CounterVec {
	return prom.NewCounterVec(prom.CounterOpts{Name: name, Help: help}, labels)
}

// child returns a histogram of v. HistogramVec declares it as an Observer because of curried
// vectors.
func child(v *prom.HistogramVec, labels ...string) prom.Histogram {
	return v.WithLabelValues(labels...).(prom.Histogram)
}

// addTotals adds to sum what was counted between before and now.
func addTotals(sum, now, before *metrics.InformerState) {
	sum.Events.Added += now.Events.Added - before.Events.Added
	sum.Events.Modified += now.Events.Modified - before.Events.Modified
	sum.Events.Deleted += now.Events.Deleted - before.Events.Deleted
	sum.Events.Bookmark += now.Events.Bookmark - before.Events.Bookmark
	sum.Listed += now.Listed - before.Listed
	sum.Relists += now.Relists - before.Relists
	sum.BadData += now.BadData - before.BadData
	addCheckpointTotals(&sum.Checkpoint, &now.Checkpoint, &before.Checkpoint)
}
