// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, tc := range []struct {
		unit  unit
		value float64
		want  string
	}{
		{number, 0, "0"}, {number, 0.001, "0"}, {number, 0.5, "0.50"}, {number, 11.96, "12.0"}, {number, 123.4, "123"},
		{number, 300000, "300,000"}, {number, -1234567, "-1,234,567"},
		{inTime, 22.4, "22.4 ns"}, {inTime, 2980, "2.98 µs"}, {inTime, 58e6, "58.0 ms"}, {inTime, 1.45e9, "1.45 s"},
		{inBytes, 408, "408 B"}, {inBytes, 8300, "8,300 B"}, {inBytes, 20_700, "20.7 KB"}, {inBytes, 364e6, "364 MB"}, {inBytes, -2e6, "-2.00 MB"},
		{perSecond, 343_000.4, "343,000/s"},
	} {
		if got := tc.unit.format(tc.value); got != tc.want {
			t.Errorf("%v in unit %d is written %q, want %q", tc.value, tc.unit, got, tc.want)
		}
	}
}

func TestRatioSaysHowMuchBetterOursIs(t *testing.T) {
	for _, tc := range []struct {
		ours, theirs float64
		more         bool
		want         string
	}{
		{2, 5, false, "2.5"},
		{5, 2, false, "0.40"},
		{5, 2, true, "2.5"},
		{1, 5000, false, "5,000"},
		{0, 2, false, "∞"},
		{0, 0, false, "1.0"},
	} {
		r := row{measure{more: tc.more}, [2]float64{tc.ours, tc.theirs}}
		if got := r.ratio(); got != tc.want {
			t.Errorf("%v against %v, more is better: %v: got %s, want %s", tc.ours, tc.theirs, tc.more, got, tc.want)
		}
	}
}

func Example() {
	p := printer{out: os.Stdout, on: sides}
	p.head("v0.37.2")
	p.title("a made-up benchmark")
	p.rows([]row{
		{measure{name: "time", unit: inTime}, [2]float64{900, 1800}},
		{measure{name: "updates", unit: perSecond, more: true}, [2]float64{40_000, 81.25}},
	})
	// Output:
	// measure                                                    informer-gen  client-go v0.37.2    ratio
	// ───────────────────────────────────────────────────────────────────────────────────────────────────
	// a made-up benchmark
	//   time                                                           900 ns            1.80 µs      2.0
	//   updates                                                      40,000/s             81.2/s      492
}
