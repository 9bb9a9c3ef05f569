// SPDX-License-Identifier: Apache-2.0

package harness

import "math"

// Measure is one row of the table.
type Measure struct {
	Name string
	Unit Unit
	Mark Mark
}

// Unit is the unit of a value.
type Unit int

// The units.
const (
	Number Unit = iota
	Time        // nanoseconds, shown in a unit that fits
	Bytes       // shown in a unit that fits
	PerSecond
)

// Mark is the value that informer-gen must reach.
type Mark struct {
	Kind  MarkKind
	Value float64
}

// MarkKind tells how to read the value of a mark.
type MarkKind int

// The kinds of marks.
const (
	AtMostOfTheirs  MarkKind = iota // informer-gen's value over the other side's
	AtLeastOfTheirs                 // the same, if more is better
	AtMost                          // informer-gen's value alone
)

// Row is a measure with the results of the runs.
type Row struct {
	Measure
	Ours, Theirs Result
}

// Result sums up the runs of one side. The zero value means not measured.
type Result struct {
	Runs   int
	Median float64
	Spread float64 // half of the distance from the least to the greatest, as a part of the median
}

// Quotient is informer-gen's value over the other side's; ok is false if there is none.
func (r Row) Quotient() (q float64, ok bool) {
	switch a, b := r.Ours.Median, r.Theirs.Median; {
	case r.Ours.Runs == 0 || r.Theirs.Runs == 0:
		return 0, false
	case a == b:
		return 1, true
	default:
		return a / b, true
	}
}

// IsShort reports whether informer-gen misses its mark, as far as measured.
func (r Row) IsShort() bool {
	if r.Mark.Kind == AtMost {
		return r.Ours.Median > r.Mark.Value
	}
	q, ok := r.Quotient()
	switch {
	case !ok:
		return false
	case r.Mark.Kind == AtLeastOfTheirs:
		return q < r.Mark.Value
	}
	return q > r.Mark.Value || math.IsNaN(q)
}
