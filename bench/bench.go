// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// side is one of the implementations that are compared: a peer, or a lower bound of the machine,
// which is named after its work.
type side string

const (
	ours              side = "informer-gen"
	clientGo          side = "client-go"
	controllerRuntime side = "controller-runtime"
)

// peer reports whether s is an implementation, whose results must agree with those of the others.
func (s side) peer() bool { return s == ours || s == clientGo || s == controllerRuntime }

// sizes is how much work the benchmarks do.
type sizes struct {
	Pods int // synced from the wire
	CRs  int // of both kinds together, synced from the wire
	// Pods synced from the wire in the benchmarks with many; objects in a store or an informer
	Many       int
	Events     int           // of decoded objects
	HTTPEvents int           // from the wire
	HTTPPods   int           // Pods that these events change
	Updates    int           // that a stalled handler misses
	Late       int           // objects that are there when a handler is added
	Idle       int           // informers and handlers that do nothing
	Grown      int           // objects in a store whose growth is measured
	Window     time.Duration // for counts per time
}

// full are the sizes of the table.
var full = sizes{
	Pods: 20_000, CRs: 20_000, Many: 100_000, Events: 100_000, HTTPEvents: 40_000, HTTPPods: 5_000, Updates: 300_000,
	Late: 500_000, Idle: 100, Grown: 1_000_000, Window: time.Second,
}

// small makes every benchmark run within a moment, for tests. Its figures have no meaning.
var small = sizes{
	Pods: 120, CRs: 60, Many: 300, Events: 150, HTTPEvents: 200, HTTPPods: 50, Updates: 3000,
	Late: 500, Idle: 3, Grown: 5_000, Window: 5 * time.Millisecond,
}

// bench is a benchmark: it does the same work on each side, one side at a time, and measures a few
// values.
type bench struct {
	name     string // a path, for --only: "sync/pods/watch-list"
	title    func(sizes) string
	measures []measure
	others   []side // sides besides ours and clientGo
	procs    int    // GOMAXPROCS of the processes that are measured; 0: the machine's
	// world is the content of the server; nil: no server is needed.
	world func(sizes) world
	// prepare returns a function that does the work once, from scratch, and one that releases what
	// was prepared, which may be nil. A process that is measured prepares one side and runs it
	// once.
	prepare func(env) (run func() (outcome, error), done func() error, err error)
}

// sides returns the sides that take part.
func (b bench) sides() []side { return append([]side{ours, clientGo}, b.others...) }

// env is the environment of a benchmark.
type env struct {
	side   side
	sizes  sizes
	server string // where the world is served, without a slash at the end
	deep   bool   // compare the contents of objects too, which takes time
}

// outcome is the result of one run.
type outcome struct {
	Values map[string]float64 // by the measure's name, without values that a side doesn't have
	Seen   seen
}

// seen summarizes the objects and events that a peer had at the end. It must be equal on all peers,
// or they did not do the same work.
type seen struct {
	Objects int
	Events  int
	Digest  uint64
}

// row is a measure with the results of the runs.
type row struct {
	measure
	results map[side]result
}

// result sums up the runs of one side.
type result struct {
	median float64
	spread float64 // half of the distance from the least to the greatest, as a part of the median
}

// launch does one run of a benchmark on one side.
type launch func(bench, env) (outcome, error)

// runAll runs b on the sides, in turn, and returns the medians.
func (b bench) runAll(l launch, z sizes, server string, runs int, on []side) ([]row, error) {
	outcomes := map[side][]outcome{}
	for n := range runs {
		for i := range on {
			s := on[(i+n)%len(on)] // none always comes first
			o, err := l(b, env{side: s, sizes: z, server: server, deep: n == 0})
			if err != nil {
				return nil, fmt.Errorf("%s, %v: %w", b.name, s, err)
			}
			outcomes[s] = append(outcomes[s], o)
		}
		if err := b.agree(n, outcomes); err != nil {
			return nil, err
		}
	}
	rows := make([]row, len(b.measures))
	for i, m := range b.measures {
		rows[i] = row{measure: m, results: map[side]result{}}
		for _, s := range on {
			var values []float64
			for _, o := range outcomes[s] {
				if v, ok := o.Values[m.name]; ok {
					values = append(values, v)
				}
			}
			if len(values) > 0 {
				rows[i].results[s] = sumUp(values)
			}
		}
	}
	return rows, nil
}

// agree compares what the peers have seen in run n.
func (b bench) agree(n int, outcomes map[side][]outcome) error {
	var first side
	for _, s := range b.sides() {
		switch {
		case !s.peer() || len(outcomes[s]) <= n:
		case first == "":
			first = s
		case outcomes[s][n].Seen != outcomes[first][n].Seen:
			return fmt.Errorf("%s: the sides did not see the same: %v %+v, %v %+v",
				b.name, first, outcomes[first][n].Seen, s, outcomes[s][n].Seen)
		}
	}
	return nil
}

func sumUp(values []float64) result {
	slices.Sort(values)
	n := len(values)
	r := result{median: (values[(n-1)/2] + values[n/2]) / 2}
	if r.median != 0 {
		r.spread = (values[n-1] - values[0]) / 2 / math.Abs(r.median)
	}
	return r
}

// choose returns the benchmarks whose names are one of the comma-separated names or lie below one;
// all of them for "".
func choose(all []bench, names string) ([]bench, error) {
	if names == "" {
		return all, nil
	}
	var chosen []bench
	wanted := strings.Split(names, ",")
	for _, b := range all {
		if slices.ContainsFunc(wanted, b.isOrLiesBelow) {
			chosen = append(chosen, b)
		}
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(chosen, func(b bench) bool { return b.isOrLiesBelow(name) }) {
			return nil, fmt.Errorf("there is no benchmark %q; there are %s", name, listNames(all))
		}
	}
	return chosen, nil
}

func (b bench) isOrLiesBelow(name string) bool {
	return b.name == name || strings.HasPrefix(b.name, name+"/")
}

func listNames(benches []bench) string {
	var names []string
	for _, b := range benches {
		names = append(names, b.name)
	}
	return strings.Join(names, ", ")
}

// byName returns the benchmark of exactly that name.
func byName(all []bench, name string) (bench, error) {
	for _, b := range all {
		if b.name == name {
			return b, nil
		}
	}
	return bench{}, errors.New("there is no benchmark " + name)
}
