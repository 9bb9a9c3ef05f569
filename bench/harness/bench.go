// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"strings"
	"time"

	"github.com/informer-gen/informer-gen/bench/server"
)

// Side is one of the implementations that are compared: a peer, or a lower bound of the machine,
// which is named after its work.
type Side string

const (
	Ours              Side = "informer-gen"
	ClientGo          Side = "client-go"
	ControllerRuntime Side = "controller-runtime"
)

// Peer reports whether s is an implementation, whose results must agree with those of the others.
func (s Side) Peer() bool { return s == Ours || s == ClientGo || s == ControllerRuntime }

// Sizes is how much work the benchmarks do.
type Sizes struct {
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

// Bench is a benchmark: it does the same work on each side, one side at a time, and measures a few
// values.
type Bench struct {
	Name     string // a path, for --only: "sync/pods/watch-list"
	Title    func(Sizes) string
	Measures []Measure
	Others   []Side // sides besides ours and ClientGo
	Procs    int    // GOMAXPROCS of the processes that are measured; 0: the machine's
	// World is the content of the server; nil: no server is needed.
	World func(Sizes) server.World
	// Prepare returns a function that does the work once, from scratch, and one that releases what
	// was prepared, which may be nil. A process that is measured prepares one side and runs it
	// once.
	Prepare func(Env) (run func() (Outcome, error), done func() error, err error)
}

// Sides returns the sides that take part.
func (b Bench) Sides() []Side { return append([]Side{Ours, ClientGo}, b.Others...) }

// Env is the environment of a benchmark.
type Env struct {
	Side   Side
	Sizes  Sizes
	Server string // where the world is served, without a slash at the end
	Deep   bool   // compare the contents of objects too, which takes time
}

// Outcome is the result of one run.
type Outcome struct {
	Values map[string]float64 // by the measure's name, without values that a side doesn't have
	Seen   Seen
}

// Seen summarizes the objects and events that a peer had at the end. It must be equal on all peers,
// or they did not do the same work.
type Seen struct {
	Objects int
	Events  int
	Digest  uint64
}

// RunAll runs b on the sides, in turn, and returns the medians.
func (b Bench) RunAll(l launch, z Sizes, server string, runs int, on []Side) ([]Row, error) {
	outcomes := map[Side][]Outcome{}
	for n := range runs {
		for i := range on {
			s := on[(i+n)%len(on)] // none always comes first
			o, err := l(b, Env{Side: s, Sizes: z, Server: server, Deep: n == 0})
			if err != nil {
				return nil, fmt.Errorf("%s, %v: %w", b.Name, s, err)
			}
			outcomes[s] = append(outcomes[s], o)
		}
		if err := b.agree(n, outcomes); err != nil {
			return nil, err
		}
	}
	rows := make([]Row, len(b.Measures))
	for i, m := range b.Measures {
		rows[i] = Row{Measure: m, Results: map[Side]Result{}}
		for _, s := range on {
			var values []float64
			for _, o := range outcomes[s] {
				if v, ok := o.Values[m.Name]; ok {
					values = append(values, v)
				}
			}
			if len(values) > 0 {
				rows[i].Results[s] = SumUp(values)
			}
		}
	}
	return rows, nil
}

// agree compares what the peers have seen in run n.
func (b Bench) agree(n int, outcomes map[Side][]Outcome) error {
	var first Side
	for _, s := range b.Sides() {
		switch {
		case !s.Peer() || len(outcomes[s]) <= n:
		case first == "":
			first = s
		case outcomes[s][n].Seen != outcomes[first][n].Seen:
			return fmt.Errorf("%s: the sides did not see the same: %v %+v, %v %+v",
				b.Name, first, outcomes[first][n].Seen, s, outcomes[s][n].Seen)
		}
	}
	return nil
}

func (b Bench) isOrLiesBelow(name string) bool {
	return b.Name == name || strings.HasPrefix(b.Name, name+"/")
}
