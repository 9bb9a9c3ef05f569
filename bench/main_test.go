// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestMain(m *testing.M) {
	if harness.PlayRole(benches()) {
		return
	}
	klog.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// small lets every benchmark run within a moment. Its figures mean nothing.
var small = harness.Sizes{
	Pods: 120, CRs: 60, Many: 300, Events: 150, Changes: 20, Updates: 3000,
	Idle: 3, Grown: 5_000, Keys: 2_000, Window: 5 * time.Millisecond,
}

// TestEveryBenchmarkRunsWithEqualResults runs each benchmark once on each side, as for the table:
// in processes of its own, beside a server process.
func TestEveryBenchmarkRunsWithEqualResults(t *testing.T) {
	var s harness.Server
	defer s.Stop()
	for _, b := range benches() {
		t.Run(b.Name, func(t *testing.T) {
			address := ""
			if b.World != nil {
				var err error
				if address, err = s.Show(b.World(small)); err != nil {
					t.Fatal(err)
				}
			}
			seen := func(b harness.Bench, e harness.Env) (harness.Outcome, error) {
				o, err := harness.Children{}.Launch(b, e)
				if b.World != nil && o.Seen.Objects == 0 && b.Name != "adapter/reads" {
					t.Error("the benchmark has seen nothing")
				}
				return o, err
			}
			rows, err := b.RunAll(seen, small, address, 1, b.Sides())
			if err != nil {
				t.Fatal(err) // also if the sides saw different objects
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

func TestRunRefusesWrongArguments(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--only sink", `no benchmark "sink"`},
		{"--side ours", `no chosen benchmark has the side "ours"`},
		{"-n 0", "want 1 or more"},
		{"--cpuprofile x", "choose it with --side"},
		{"sync", `unexpected argument "sync"`},
		{"--md --only sync", "leave --only and --side out"},
		{"--md", "docs/benchmarks.md: no such file"}, // the tests run in a folder below the root
	} {
		err := program.Run(strings.Fields(tc.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.args, err, tc.want)
		}
	}
}

// TestStoresHaveLastSet: a comparison of stores means something only if no update is lost, wholly
// or in part.
func TestStoresHaveLastSet(t *testing.T) {
	for _, side := range []harness.Side{harness.Ours, harness.ClientGo} {
		s, pods, err := filledStore(side, 500, byNode, byOwner)
		if err != nil {
			t.Fatal(err)
		}
		next := data.ChangedAll(pods)
		if err := setEach(s, next); err != nil {
			t.Fatal(err)
		}
		for _, want := range next {
			if got, err := s.get(want.Namespace, want.Name); err != nil || got != want {
				t.Fatalf("%s: got %v, %v", side, got, err)
			}
		}
		var found []int
		for _, q := range listQueries {
			n, err := q.ask(s)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, n)
		}
		if want := []int{50, data.PodsOnNode, 5}; !slices.Equal(found, want) {
			t.Errorf("%s: lists have %v objects, want %v", side, found, want)
		}
	}
}
