// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	prom "github.com/prometheus/client_golang/prometheus"
)

// collector collects the metrics of all sources of one kind, such as queues. Sources of one name
// share their series.
type collector[S any] struct {
	metrics []metric[S] // set once at construction

	mu     sync.Mutex // mu guards the field below; it is not held while a state is read
	byName map[names]*group[S]
}

// names are the values of the labels that name a source: one, or two.
type names struct {
	first, second string
	two           bool
}

func named(name string) names { return names{first: labelValue(name)} }

func namedTwice(first, second string) names {
	return names{labelValue(first), labelValue(second), true}
}

func (n names) labels() []string {
	if !n.two {
		return []string{n.first}
	}
	return []string{n.first, n.second}
}

type group[S any] struct {
	current map[*run[S]]struct{}
	ended   []float64 // the totals of ended runs, by metric
}

type run[S any] struct {
	read   func() S
	before []float64 // the source's totals at the start of the run
}

// begin adds a run, until end is called. Totals in before don't count; nil means none.
func (c *collector[S]) begin(n names, before *S, read func() S) (end func()) {
	r := &run[S]{read: read, before: make([]float64, len(c.metrics))}
	if before != nil {
		r.before = valuesOf(c.metrics, *before)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = map[names]*group[S]{}
	}
	g := c.byName[n]
	if g == nil {
		g = &group[S]{current: map[*run[S]]struct{}{}, ended: slices.Repeat([]float64{math.NaN()}, len(c.metrics))}
		c.byName[n] = g
	}
	g.current[r] = struct{}{}
	return func() {
		var last []float64
		if c.hasTotals() {
			last = valuesOf(c.metrics, read())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if _, ok := g.current[r]; ok {
			delete(g.current, r)
			c.count(g.ended, last, r)
		}
	}
}

func (c *collector[S]) hasTotals() bool {
	return slices.ContainsFunc(c.metrics, func(m metric[S]) bool { return m.merge == nil })
}

// count adds a run's counts to the totals. NaN means no total yet.
func (c *collector[S]) count(totals, now []float64, r *run[S]) {
	for n, value := range now {
		switch {
		case c.metrics[n].merge != nil || math.IsNaN(value):
		case math.IsNaN(totals[n]):
			totals[n] = value - r.before[n]
		default:
			totals[n] += value - r.before[n]
		}
	}
}

// Describe implements prometheus.Collector.
func (c *collector[S]) Describe(ch chan<- *prom.Desc) { describe(c.metrics, ch) }

// Collect implements prometheus.Collector. It takes the lock of each source briefly, one after the
// other.
func (c *collector[S]) Collect(ch chan<- prom.Metric) {
	type snapshot struct {
		current []*run[S]
		values  []float64
	}
	snapshots := map[names]snapshot{}
	c.mu.Lock()
	for name, g := range c.byName {
		if len(g.current) > 0 {
			snapshots[name] = snapshot{slices.Collect(maps.Keys(g.current)), slices.Clone(g.ended)}
		}
	}
	c.mu.Unlock()
	for name, s := range snapshots {
		for _, r := range s.current {
			now := valuesOf(c.metrics, r.read())
			c.count(s.values, now, r)
			for n, m := range c.metrics {
				switch {
				case m.merge == nil:
				case math.IsNaN(s.values[n]):
					s.values[n] = now[n]
				case !math.IsNaN(now[n]):
					s.values[n] = m.merge(s.values[n], now[n])
				}
			}
		}
		emit(c.metrics, s.values, name.labels(), ch)
	}
}

func labelValue(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
