// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

var tableSizes = harness.Sizes{
	Pods: 20_000, CRs: 20_000, Many: 100_000, Events: 40_000, Changes: 100, Updates: 300_000,
	Idle: 200, Grown: 1_000_000, Keys: 1_000_000, Window: time.Second,
}

var program = report.Program{
	Name: "./bench", Benches: benches(), Sizes: tableSizes, Runs: 5, Library: "k8s.io/client-go", Against: "the other side",
	Page: "docs/benchmarks.md", Begin: "<!-- bench -->", ReadMe: true,
}

func main() { program.Main() }

// benches returns all benchmarks, in the order of the table.
func benches() []harness.Bench {
	return slices.Concat(
		syncBenches(),
		[]harness.Bench{projectionBench(), restartBench(), relistBench("watch-list", false), relistBench("protobuf", true), relistAllBench()},
		wireBenches(), eventBenches(),
		[]harness.Bench{stallBench(), updateBench(), getBench(), getContendedBench(), readersBench(), indexBench(), listBench(), growthBench()},
		[]harness.Bench{emptyBench(), queueBench(), controllerBench()},
		adapterBenches(),
	)
}

func prepared(run func(harness.Env) (harness.Outcome, error)) func(harness.Env) (func() (harness.Outcome, error), func() error, error) {
	return func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		return func() (harness.Outcome, error) { return run(e) }, nil, nil
	}
}
