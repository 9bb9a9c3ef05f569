// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"slices"
	"strings"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// informerSeries are the series that all informers of one name share. Provider.mu guards the fields
// that are not set at construction.
type informerSeries struct {
	// set once at construction
	name                       string
	list, watch                prom.Histogram
	batchChanges, batchSeconds prom.Histogram

	runs     []*informerRun        // that are not closed
	ended    metrics.InformerState // the totals of the runs that are closed
	failures map[string]prom.Counter
	handlers map[string]*handlerSeries
}

// handlerSeries are the series that all handlers of one name share in the informers of one name.
type handlerSeries struct {
	// set once at construction
	name     string
	callback prom.Histogram
	panics   prom.Counter

	runs []*handlerRun // that are not closed; Provider.mu guards it
}

// informerRun is an InformerRecorder.
type informerRun struct {
	*informerSeries
	provider *Provider
	read     func() metrics.InformerState
	before   metrics.InformerState // the totals of earlier runs, which the series have counted
}

func (r *informerRun) ListDone(took time.Duration, _ int) { r.list.Observe(took.Seconds()) }

func (r *informerRun) WatchDone(lasted time.Duration, _ int) { r.watch.Observe(lasted.Seconds()) }

func (r *informerRun) BatchDone(took time.Duration, changes int) {
	r.batchChanges.Observe(float64(changes))
	r.batchSeconds.Observe(took.Seconds())
}

func (r *informerRun) Failed(reason string) {
	reason = labelValue(strings.ReplaceAll(reason, " ", "_"))
	r.provider.mu.Lock()
	defer r.provider.mu.Unlock()
	counter := r.failures[reason]
	if counter == nil {
		counter = r.provider.perInformer.failures.WithLabelValues(r.name, reason)
		r.failures[reason] = counter
	}
	counter.Inc()
}

func (r *informerRun) Close() {
	state := r.read()
	r.provider.mu.Lock()
	defer r.provider.mu.Unlock()
	if at := slices.Index(r.runs, r); at >= 0 {
		r.runs = slices.Delete(r.runs, at, at+1)
		addTotals(&r.ended, &state, &r.before)
	}
}

func (r *informerRun) BeginHandler(name string, read func() metrics.HandlerState) metrics.HandlerRecorder {
	name = labelValue(name)
	r.provider.mu.Lock()
	defer r.provider.mu.Unlock()
	s := r.handlers[name]
	if s == nil {
		s = newHandlerSeries(r.name, name, &r.provider.perHandler)
		r.handlers[name] = s
	}
	h := &handlerRun{handlerSeries: s, provider: r.provider, read: read}
	s.runs = append(s.runs, h)
	return h
}

// handlerRun is a HandlerRecorder.
type handlerRun struct {
	*handlerSeries
	provider *Provider
	read     func() metrics.HandlerState
}

func (h *handlerRun) CallbackDone(took time.Duration, panicked bool) {
	h.callback.Observe(took.Seconds())
	if panicked {
		h.panics.Inc()
	}
}

func (h *handlerRun) Close() {
	h.provider.mu.Lock()
	defer h.provider.mu.Unlock()
	if at := slices.Index(h.runs, h); at >= 0 {
		h.runs = slices.Delete(h.runs, at, at+1)
	}
}

// labelValue returns s as a valid value of a label.
func labelValue(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
