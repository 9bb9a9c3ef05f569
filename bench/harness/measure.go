// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"math"
)

// Measure is one row of the table.
type Measure struct {
	Name string // different from those of the benchmark's other measures
	Unit Unit
	More bool // More is better
	// the mark: informer-gen's value over the other side's must be at most this, or with More at
	// least; 0: no mark
	Ratio float64
	Limit Limit // of informer-gen's own value
	// a further mark: the same over the value of one of the others
	Beside      Side
	BesideRatio float64
}

// Limit is the most that a value may be. The zero value is no limit.
type Limit struct {
	Max float64
	Set bool
}

// AtMost is the limit v.
func AtMost(v float64) Limit { return Limit{v, true} }

// Unit is the unit of a value.
type Unit int

// The units.
const (
	Number Unit = iota
	Time        // shown in a unit that fits
	Bytes       // shown in a unit that fits
	PerSecond
)

// Row is a measure with the results of the runs.
type Row struct {
	Measure
	Against Side // "": ClientGo
	Results map[Side]Result
}

// Result sums up the runs of one side.
type Result struct {
	Median float64
	Spread float64 // half of the distance from the least to the greatest, as a part of the median
}

// Invisible is the least value that a table doesn't show as 0.
const Invisible = 0.005

// Theirs is the side that informer-gen is compared with.
func (r Row) Theirs() Side { return cmp.Or(r.Against, ClientGo) }

// Quotient is informer-gen's value over the other side's; ok is false if there is none.
func (r Row) Quotient() (q float64, ok bool) {
	a, hasA := r.Results[Ours]
	b, hasB := r.Results[r.Theirs()]
	switch {
	case !hasA || !hasB:
		return 0, false
	case math.Abs(a.Median) < Invisible && math.Abs(b.Median) < Invisible:
		return 1, true
	case math.Abs(b.Median) < Invisible:
		return math.Inf(1), true
	}
	return a.Median / b.Median, true
}

// IsShort reports whether informer-gen misses its mark, as far as that was measured.
func (r Row) IsShort() bool {
	own, ok := r.Results[Ours]
	if ok && r.Limit.Set && own.Median > r.Limit.Max {
		return true
	}
	if other, too := r.Results[r.Beside]; ok && too && own.Median > r.BesideRatio*other.Median {
		return true
	}
	q, ok := r.Quotient()
	switch {
	case r.Ratio == 0 || !ok:
		return false
	case r.More:
		return q < r.Ratio
	}
	return q > r.Ratio
}

// Suffix is what Go's benchmarks put behind a unit's name.
func (u Unit) Suffix() string { return [...]string{"", "-ns", "-B", "-per-s"}[u] }
