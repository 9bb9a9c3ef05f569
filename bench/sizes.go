// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// full are the sizes of the table.
var full = harness.Sizes{
	Pods: 20_000, CRs: 20_000, Many: 100_000, Events: 100_000, HTTPEvents: 40_000, HTTPPods: 5_000, Changes: 1_000, OfEach: 10, Updates: 300_000,
	Late: 500_000, Idle: 100, Grown: 1_000_000, Keys: 1_000_000, Window: time.Second,
}

// small makes every benchmark run within a moment, for tests. Its figures have no meaning.
var small = harness.Sizes{
	Pods: 120, CRs: 60, Many: 300, Events: 150, HTTPEvents: 200, HTTPPods: 50, Changes: 20, OfEach: 2, Updates: 3000,
	Late: 500, Idle: 3, Grown: 5_000, Keys: 2_000, Window: 5 * time.Millisecond,
}
