// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"time"

	"github.com/informer-gen/informer-gen/bench/server"
)

// Side is one of the two implementations compared by a benchmark.
type Side string

// Sides of many benchmarks.
const (
	Ours              Side = "informer-gen"
	ClientGo          Side = "client-go"
	ControllerRuntime Side = "controller-runtime"
)

// Sizes is the amount of work of the benchmarks.
type Sizes struct {
	Pods     int           // synced from the wire
	CRs      int           // of both kinds together, synced from the wire; or of a watch cache
	Many     int           // objects in a store, or of a relist
	Events   int           // of decoded objects, or from the wire
	Changes  int           // since a checkpoint
	Updates  int           // missed by a stalled handler
	Idle     int           // namespaces without objects
	Grown    int           // objects in the large store of growth
	Keys     int           // that go through a work queue
	Watchers int           // of a watch cache
	Window   time.Duration // for counts per time
}

// Bench is a benchmark: it does the same work on each side, one side at a time, and measures the
// values of [Measures].
type Bench struct {
	Name    string // a path, for --only: "sync/pods/watch-list"
	Title   func(Sizes) string
	Against Side // the side to compare with; "": ClientGo
	// World is the content of the server; nil: no server is needed.
	World func(Sizes) server.World
	// Prepare returns a function that does the work once, from scratch, and one that releases the
	// preparations, which may be nil. A measured process prepares one side and runs it once.
	Prepare func(Env) (run func() (Outcome, error), done func() error, err error)
}

// Sides returns the two sides.
func (b Bench) Sides() []Side { return []Side{Ours, b.Theirs()} }

// Theirs returns the side to compare with.
func (b Bench) Theirs() Side { return cmp.Or(b.Against, ClientGo) }

// Env is the environment of a benchmark.
type Env struct {
	Side   Side
	Sizes  Sizes
	Server string // address of the world, without a slash at the end
	Deep   bool   // also compare the contents of objects, which takes time
}

// Outcome is the result of one run.
type Outcome struct {
	Values map[string]float64 // by the measure's name
	Seen   Seen
}

// Seen summarizes a side's objects and events at the end. Sides with different summaries have not
// done the same work.
type Seen struct {
	Objects int
	Events  int
	Digest  uint64
}
