// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	if harness.PlayRole(program.Benches) {
		return
	}
	goleak.VerifyTestMain(m)
}

// small lets every benchmark run within a moment.
var small = harness.Sizes{CRs: 200, Watchers: 10, Window: 200 * time.Millisecond}

// TestEveryBenchmarkRuns runs each benchmark once on each side, as for the table: in processes of
// its own.
func TestEveryBenchmarkRuns(t *testing.T) {
	for _, b := range program.Benches {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel() // the measured times don't matter
			rows, err := b.RunAll(harness.Children{}.Launch, small, "", 1, b.Sides())
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) == 0 {
				t.Error("the benchmark has no rows")
			}
			for _, r := range rows {
				for _, v := range []harness.Result{r.Ours, r.Theirs} {
					if v.Runs == 0 || math.IsNaN(v.Median) || math.IsInf(v.Median, 0) {
						t.Errorf("row %s: got %+v", r.Name, v)
					}
				}
			}
		})
	}
}
