// SPDX-License-Identifier: Apache-2.0

package storagesuite

import (
	"context"
	"flag"
	"testing"

	suite "k8s.io/apiserver/pkg/storage/testing"
)

// benchmarks are the suites that measure, by name. They begin with a store that has no pods.
var benchmarks = map[string]func(*testing.B, *store, suite.BenchmarkData){
	"RunBenchmarkWriteThroughput": func(b *testing.B, s *store, data suite.BenchmarkData) {
		suite.RunBenchmarkWriteThroughput(b.Context(), b, s, data, true, nil)
	},
	"RunBenchmarkStoreList": func(b *testing.B, s *store, data suite.BenchmarkData) {
		create(b.Context(), b, s, data)
		suite.RunBenchmarkStoreList(b.Context(), b, s, data, true)
	},
	"RunBenchmarkStoreStats": func(b *testing.B, s *store, data suite.BenchmarkData) {
		create(b.Context(), b, s, data)
		suite.RunBenchmarkStoreStats(b.Context(), b, s)
	},
}

func create(ctx context.Context, b *testing.B, s *store, data suite.BenchmarkData) {
	b.Helper()
	if err := suite.PrecreateBenchmarkPods(ctx, s, data); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSuites runs the suites that measure, on each storage, with 1,500 pods. The store reads
// pods with API servers' own codec, which takes most of the time of a list.
func BenchmarkSuites(b *testing.B) {
	data := suite.PrepareBenchmarkData(10, 150, 50)
	for name, newRig := range rigs {
		b.Run(name, func(b *testing.B) {
			for suite, run := range benchmarks {
				b.Run(suite, func(b *testing.B) { run(b, newStore(b, newRig(b)), data) })
			}
		})
	}
}

// TestBenchmarks runs the suites that measure, with one iteration each: they fail if the store
// refuses what they send. TestEachSuiteIsRunOrExcluded finds the ones that are missing.
func TestBenchmarks(t *testing.T) {
	const benchtime = "test.benchtime"
	before := flag.Lookup(benchtime).Value.String()
	if err := flag.Set(benchtime, "1x"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := flag.Set(benchtime, before); err != nil {
			t.Error(err)
		}
	}()
	data := suite.PrepareBenchmarkData(2, 60, 2) // the lists ask for the last 100 versions
	for name, newRig := range rigs {
		for suite, run := range benchmarks {
			t.Run(name+"/"+suite, func(t *testing.T) {
				ran := testing.Benchmark(func(b *testing.B) {
					defer func() {
						if b.Failed() {
							t.Error("it has failed; go test -bench prints why")
						}
					}()
					run(b, newStore(b, newRig(b)), data)
				})
				if ran.N == 0 {
					t.Error("it did not run")
				}
			})
		}
	}
}
