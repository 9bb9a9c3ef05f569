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
		if got := format(tc.unit, tc.value); got != tc.want {
			t.Errorf("%v in unit %d is written %q, want %q", tc.value, tc.unit, got, tc.want)
		}
	}
}

func TestRatioAndMark(t *testing.T) {
	for _, tc := range []struct {
		name         string
		measure      measure
		ours, theirs float64
		ratio, mark  string
		short        bool
	}{
		{"no mark", measure{}, 5, 2, "2.50", "", false},
		{"reached", measure{ratio: 0.15}, 15, 100, "0.15", "≤ 0.15", false},
		{"missed", measure{ratio: 0.15}, 16, 100, "0.16", "≤ 0.15", true},
		{"missed by less than is shown", measure{ratio: 0.15}, 15.1, 100, "0.15", "≤ 0.15", true},
		{"more is better, reached", measure{ratio: 3, more: true}, 31, 10, "3.10", "≥ 3", false},
		{"more is better, missed", measure{ratio: 1000, more: true}, 5000, 10, "500", "≥ 1000", true},
		{"small", measure{ratio: 0.01}, 2, 1000, "0.002", "≤ 0.01", false},
		{"own limit, reached", measure{limit: atMost(0)}, 0, 3, "0.000", "own ≤ 0", false},
		{"own limit, missed", measure{limit: atMost(2)}, 3, 30, "0.10", "own ≤ 2", true},
		{"both, one missed", measure{ratio: 0.5, limit: atMost(2)}, 2, 3, "0.67", "≤ 0.5, own ≤ 2", true},
		{"nothing on either side", measure{ratio: 0.5}, 0, 0, "1.00", "≤ 0.5", true},
		{"nothing on theirs", measure{ratio: 0.5}, 1, 0, "∞", "≤ 0.5", true},
	} {
		r := row{measure: tc.measure, results: map[side]result{ours: {median: tc.ours}, clientGo: {median: tc.theirs}}}
		if ratioCell(r) != tc.ratio || markCell(r) != tc.mark || r.isShort() != tc.short {
			t.Errorf("%s: got %q, %q, short %v; want %q, %q, %v", tc.name, ratioCell(r), markCell(r), r.isShort(), tc.ratio, tc.mark, tc.short)
		}
	}
	alone := row{measure: measure{ratio: 0.5}, results: map[side]result{ours: {median: 1}}}
	if ratioCell(alone) != "–" || alone.isShort() {
		t.Errorf("one side alone has the ratio %q, short %v", ratioCell(alone), alone.isShort())
	}
}

var madeUp = []row{
	{measure: measure{name: "time", unit: inTime, ratio: 0.5}, results: map[side]result{ours: {median: 900, spread: 0.03}, clientGo: {median: 1500, spread: 0.1}, "a bound": {median: 300, spread: 0}}},
	{measure: measure{name: "updates", unit: perSecond, more: true, ratio: 100}, results: map[side]result{ours: {median: 40_000, spread: 0}, clientGo: {median: 81.25, spread: 0.5}}},
}

func Example() {
	p := printer{out: os.Stdout}
	p.head()
	p.title("a made-up benchmark")
	p.rows(madeUp)
	// Output:
	//                                                      informer-gen          client-go    ratio  mark             beside
	// ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
	// a made-up benchmark
	//   time                                                 900 ns ±3%       1.50 µs ±10%     0.60  ≤ 0.5            a bound 300 ns  short
	//   updates                                                40,000/s        81.2/s ±50%      492  ≥ 100
}

func Example_markdown() {
	p := printer{out: os.Stdout, md: true}
	p.head()
	p.title("a made-up benchmark")
	p.rows(madeUp)
	// Output:
	// |  | informer-gen | client-go | ratio | mark | beside |  |
	// | --- | ---: | ---: | ---: | --- | --- | --- |
	// | **a made-up benchmark** |  |  |  |  |  |  |
	// | time | 900 ns ±3% | 1.50 µs ±10% | 0.60 | ≤ 0.5 | a bound 300 ns | short |
	// | updates | 40,000/s | 81.2/s ±50% | 492 | ≥ 100 |  |  |
}
