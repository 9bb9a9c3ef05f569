// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"time"

	"github.com/informer-gen/informer-gen/bench/server"
)

// Side is one of the implementations that are compared: a peer, or a lower bound of the machine,
// which is named after its work.
type Side string

// Peers of many benchmarks.
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
	// Pods synced from the wire in the benchmarks with many; else objects in a store or an informer
	Many       int
	Events     int           // of decoded objects
	HTTPEvents int           // from the wire
	HTTPPods   int           // Pods that these events change
	Changes    int           // from the wire, one at a time
	OfEach     int           // objects of each of many kinds
	Updates    int           // that a stalled handler misses
	Late       int           // objects that are there when a handler is added
	Idle       int           // informers and handlers that do nothing
	Grown      int           // objects in a store whose growth is measured
	Keys       int           // that go through a work queue
	Watchers   int           // of a watch cache
	Window     time.Duration // for counts per time
}

// Bench is a benchmark: it does the same work on each side, one side at a time, and measures a few
// values.
type Bench struct {
	Name     string // a path, for --only: "sync/pods/watch-list"
	Title    func(Sizes) string
	Measures []Measure
	Against  Side   // whose values informer-gen's are compared with; "": ClientGo
	Others   []Side // besides these two
	// World is the content of the server; nil: no server is needed.
	World func(Sizes) server.World
	// Prepare returns a function that does the work once, from scratch, and one that releases what
	// was prepared, which may be nil. A process that is measured prepares one side and runs it
	// once.
	Prepare func(Env) (run func() (Outcome, error), done func() error, err error)
}

// Sides returns the sides that take part.
func (b Bench) Sides() []Side { return append([]Side{Ours, b.theirs()}, b.Others...) }

func (b Bench) theirs() Side { return cmp.Or(b.Against, ClientGo) }

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
