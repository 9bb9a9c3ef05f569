// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

// The rows that are picked are measured.
func TestPickedRowsAreMeasures(t *testing.T) {
	for _, p := range report.Picks() {
		b := named(t, p.Bench)
		if !slices.ContainsFunc(b.Measures, func(m harness.Measure) bool { return m.Name == p.Measure }) {
			t.Errorf("%s has no measure %q", p.Bench, p.Measure)
		}
	}
}

// named returns the benchmark of that name.
func named(t *testing.T, name string) harness.Bench {
	t.Helper()
	i := slices.IndexFunc(benches(), func(b harness.Bench) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("there is no benchmark %s", name)
	}
	return benches()[i]
}
