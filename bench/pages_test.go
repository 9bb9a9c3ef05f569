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
		b, err := harness.ByName(benches(), p.Bench)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(b.Measures, func(m harness.Measure) bool { return m.Name == p.Measure }) {
			t.Errorf("%s has no measure %q", p.Bench, p.Measure)
		}
	}
}
