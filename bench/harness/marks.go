// SPDX-License-Identifier: Apache-2.0

package harness

// Names of measures used by several benchmarks.
const (
	WallTime    = "wall time"
	CPUTime     = "CPU time"
	RetainedPer = "heap retained, per object"
)

// marks are the rows of all benchmarks, by the benchmark's name, with their marks. Values without a
// row here are not shown.
var marks = map[string][]Measure{
	"sync/pods/watch-list": {
		{WallTime, Time, ratio(0.12)},
		{CPUTime, Time, ratio(0.14)},
		{"peak heap over retained heap", Number, own(1.15)},
		{RetainedPer, Bytes, ratio(0.40)},
	},
	"sync/pods/paged-list": {{WallTime, Time, ratio(0.22)}, {CPUTime, Time, ratio(0.22)}},
	"sync/pods/protobuf":   {{WallTime, Time, ratio(0.35)}, {CPUTime, Time, ratio(0.35)}, {RetainedPer, Bytes, ratio(0.40)}},
	"sync/crs/watch-list":  customs,
	"sync/crs/paged-list":  customs,
	"sync/nothing-repeats": {{RetainedPer, Bytes, ratio(0.95)}},
	"projection":           {{CPUTime, Time, ratio(0.06)}, {RetainedPer, Bytes, ratio(0.06)}},
	"restart":              {{"requests that list", Number, own(0)}, {CPUTime, Time, ratio(1)}},

	"relist/watch-list": {{"wall time, from the first request", Time, ratio(0.1)}, {"extra peak heap", Bytes, ratio(0.05)}},
	"relist/protobuf":   {{"wall time, from the first request", Time, ratio(0.1)}, {"extra peak heap", Bytes, ratio(0.05)}},
	"relist/all": {
		{"longest time of AddEventHandler", Time, own(2e6)},
		{"longest time of Status and Await", Time, own(2e6)},
	},

	"event/json":     {{"CPU time, per event", Time, ratio(0.14)}},
	"event/protobuf": {{"CPU time, per event", Time, ratio(0.4)}},
	"event/1":        {{"CPU time, per event", Time, ratio(0.8)}},
	"event/3":        {{"CPU time, per event", Time, ratio(0.8)}},
	"event/10":       {{"CPU time, per event", Time, ratio(0.8)}},
	"stall":          {{"heap growth", Bytes, ratio(0.01)}},

	"update":        {{"CPU time, per update", Time, ratio(2)}},
	"get":           {{"CPU time, per Get", Time, ratio(1.5)}},
	"get/contended": {{"wall time, by Gets of all goroutines", Time, ratio(0.5)}},
	"readers":       {{"updates", PerSecond, Mark{AtLeastOfTheirs, 1000}}},
	"index":         {{"heap, per object", Bytes, ratio(0.5)}},
	"list": {
		{"namespace, a tenth: CPU time", Time, ratio(0.5)},
		{"index, 100: CPU time", Time, ratio(0.5)},
		{"labels, a hundredth: CPU time", Time, ratio(0.5)},
	},
	"growth": {
		{"update of two index keys: growth of what is allocated", Number, own(1.5)},
		{"delete: growth of what is allocated", Number, own(1.5)},
	},
	"empty-namespace": {{"heap and stacks", Bytes, own(25e3)}},

	"queue":      {{"CPU time, per key", Time, ratio(0.6)}},
	"controller": {{"CPU time, per reconcile", Time, ratio(0.25)}},

	"adapter/pods":     {{CPUTime, Time, ratio(0.25)}, {RetainedPer, Bytes, ratio(0.42)}},
	"adapter/protobuf": {{CPUTime, Time, ratio(0.35)}, {RetainedPer, Bytes, ratio(0.42)}},
	"adapter/crs":      {{CPUTime, Time, ratio(0.25)}, {RetainedPer, Bytes, ratio(0.50)}},
	"adapter/reads":    {{"Get, CPU time", Time, ratio(0.8)}, {"List, CPU time", Time, ratio(0.8)}},

	// go run ./bench/watchcache
	"deliver":     {{"CPU time, per delivery", Time, ratio(0.15)}},
	"idle":        {{"heap and stacks, per watcher", Bytes, ratio(0.1)}},
	"list-of-all": {{"CPU time, per list", Time, ratio(0.15)}},

	// go run ./bench/generator
	"generate": {{WallTime, Time, ratio(1.0 / 8)}, {CPUTime, Time, ratio(1.0 / 8)}},
	"compile":  {{CPUTime, Time, ratio(1.0 / 3)}},
}

var customs = []Measure{{WallTime, Time, ratio(0.30)}, {CPUTime, Time, ratio(0.22)}, {RetainedPer, Bytes, ratio(0.50)}}

func ratio(most float64) Mark { return Mark{AtMostOfTheirs, most} }

func own(most float64) Mark { return Mark{AtMost, most} }

// Measures returns the rows of a benchmark.
func Measures(bench string) []Measure { return marks[bench] }
