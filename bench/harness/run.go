// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"math"
	"slices"
)

// launch does one run of a benchmark on one side.
type launch func(Bench, Env) (Outcome, error)

// RunAll runs b on the sides, in turn, and returns the medians.
func (b Bench) RunAll(l launch, z Sizes, server string, runs int, on []Side) ([]Row, error) {
	outcomes := map[Side][]Outcome{}
	for n := range runs {
		for i := range on {
			s := on[(i+n)%len(on)] // none always comes first
			o, err := l(b, Env{Side: s, Sizes: z, Server: server, Deep: n == 0})
			if err != nil {
				return nil, fmt.Errorf("%s, %v: %w", b.Name, s, err)
			}
			outcomes[s] = append(outcomes[s], o)
		}
		if err := b.agree(n, outcomes); err != nil {
			return nil, err
		}
	}
	rows := make([]Row, len(b.Measures))
	for i, m := range b.Measures {
		rows[i] = Row{Measure: m, Against: b.Against, Results: map[Side]Result{}}
		for _, s := range on {
			var values []float64
			for _, o := range outcomes[s] {
				if v, ok := o.Values[m.Name]; ok {
					values = append(values, v)
				}
			}
			if len(values) > 0 {
				rows[i].Results[s] = SumUp(values)
			}
		}
	}
	return rows, nil
}

// agree compares what the peers have seen in run n.
func (b Bench) agree(n int, outcomes map[Side][]Outcome) error {
	var first Side
	for _, s := range b.Sides() {
		switch {
		case !s.Peer() && s != b.Against || len(outcomes[s]) <= n:
		case first == "":
			first = s
		case outcomes[s][n].Seen != outcomes[first][n].Seen:
			return fmt.Errorf("%s: the sides did not see the same: %v %+v, %v %+v",
				b.Name, first, outcomes[first][n].Seen, s, outcomes[s][n].Seen)
		}
	}
	return nil
}

// SumUp returns the median and the spread of the values of some runs.
func SumUp(values []float64) Result {
	slices.Sort(values)
	n := len(values)
	r := Result{Median: (values[(n-1)/2] + values[n/2]) / 2}
	if r.Median != 0 {
		r.Spread = (values[n-1] - values[0]) / 2 / math.Abs(r.Median)
	}
	return r
}
