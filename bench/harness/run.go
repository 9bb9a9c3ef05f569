// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"math"
	"slices"
)

// Launch does one run of a benchmark on one side.
type Launch func(Bench, Env) (Outcome, error)

// RunAll runs b on the sides, in turn, and returns its rows.
func (b Bench) RunAll(launch Launch, z Sizes, server string, runs int, on []Side) ([]Row, error) {
	outcomes := map[Side][]Outcome{}
	for n := range runs {
		for i := range on {
			s := on[(i+n)%len(on)] // none always comes first
			o, err := launch(b, Env{Side: s, Sizes: z, Server: server, Deep: n == 0})
			if err != nil {
				return nil, fmt.Errorf("%s, %v: %w", b.Name, s, err)
			}
			outcomes[s] = append(outcomes[s], o)
		}
		ours, theirs := outcomes[Ours], outcomes[b.Theirs()]
		if len(on) == 2 && ours[n].Seen != theirs[n].Seen {
			return nil, fmt.Errorf("%s: the sides did not see the same: %+v and %+v", b.Name, ours[n].Seen, theirs[n].Seen)
		}
	}
	var rows []Row
	for _, m := range Measures(b.Name) {
		rows = append(rows, Row{m, sumUp(m.Name, outcomes[Ours]), sumUp(m.Name, outcomes[b.Theirs()])})
	}
	return rows, nil
}

func sumUp(measure string, outcomes []Outcome) Result {
	var values []float64
	for _, o := range outcomes {
		if v, ok := o.Values[measure]; ok {
			values = append(values, v)
		}
	}
	n := len(values)
	if n == 0 {
		return Result{}
	}
	slices.Sort(values)
	r := Result{Runs: n, Median: (values[(n-1)/2] + values[n/2]) / 2}
	if r.Median != 0 {
		r.Spread = (values[n-1] - values[0]) / 2 / math.Abs(r.Median)
	}
	return r
}
