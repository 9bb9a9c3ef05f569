// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"math"
	"slices"
)

// launch does one run of a benchmark on one side.
type launch func(Bench, Env) (Outcome, error)

func SumUp(values []float64) Result {
	slices.Sort(values)
	n := len(values)
	r := Result{Median: (values[(n-1)/2] + values[n/2]) / 2}
	if r.Median != 0 {
		r.Spread = (values[n-1] - values[0]) / 2 / math.Abs(r.Median)
	}
	return r
}
