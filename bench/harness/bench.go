// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"time"

	"github.com/informer-gen/informer-gen/bench/server"
)

// Side is one of the two implementations that a benchmark compares.
type Side string

// Sides of many benchmarks.
const (
	Ours              Side = "informer-gen"
	ClientGo          Side = "client-go"
	ControllerRuntime Side = "controller-runtime"
)

// Sizes is how much work the benchmarks do.
type Sizes struct {
	Pods     int           // synced from the wire
	CRs      int           // of both kinds together, synced from the wire; or of a watch cache
	Many     int           // objects in a store, or of a relist
	Events   int           // of decoded objects, or from the wire
	Changes  int           // since a checkpoint
	Updates  int           // that a stalled handler misses
	Idle     int           // namespaces without objects
	Grown    int           // objects in a store whose growth is measured
	Keys     int           // that go through a work queue
	Watchers int           // of a watch cache
	Window   time.Duration // for counts per time
}

// Bench is a benchmark: it does the same work on each side, one side at a time, and measures the
// values of [Measures].
type Bench struct {
	Name    string // a path, for --only: "sync/pods/watch-list"
	Title   func(Sizes) string
	Against Side // whose values informer-gen's are compared with; "": ClientGo
	// World is the content of the server; nil: no server is needed.
	World func(Sizes) server.World
	// Prepare returns a function that does the work once, from scratch, and one that releases what
	// was prepared, which may be nil. A process that is measured prepares one side and runs it
	// once.
	Prepare func(Env) (run func() (Outcome, error), done func() error, err error)
}

// Sides returns the two sides.
func (b Bench) Sides() []Side { return []Side{Ours, b.Theirs()} }

// Theirs returns the side that informer-gen is compared with.
func (b Bench) Theirs() Side { return cmp.Or(b.Against, ClientGo) }

// Env is the environment of a benchmark.
type Env struct {
	Side   Side
	Sizes  Sizes
	Server string // where the world is served, without a slash at the end
	Deep   bool   // compare the contents of objects too, which takes time
}

// Outcome is the result of one run.
type Outcome struct {
	Values map[string]float64 // by the measure's name
	Seen   Seen
}

// Seen summarizes the objects and events that a side had at the end. It must be equal on both, or
// they did not do the same work.
type Seen struct {
	Objects int
	Events  int
	Digest  uint64
}
