// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"testing"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestValuesHaveThreeDigits(t *testing.T) {
	for _, tc := range []struct {
		unit  harness.Unit
		value float64
		want  string
	}{
		{harness.Number, 0, "0"}, {harness.Number, 0.001, "0"}, {harness.Number, 0.5, "0.50"}, {harness.Number, 11.96, "12.0"}, {harness.Number, 123.4, "123"},
		{harness.Number, 300000, "300,000"}, {harness.Number, -1234567, "-1,234,567"},
		{harness.Time, 22.4, "22.4 ns"}, {harness.Time, 2980, "2.98 µs"}, {harness.Time, 58e6, "58.0 ms"}, {harness.Time, 1.45e9, "1.45 s"},
		{harness.Bytes, 408, "408 B"}, {harness.Bytes, 8300, "8,300 B"}, {harness.Bytes, 20_700, "20.7 KB"}, {harness.Bytes, 364e6, "364 MB"}, {harness.Bytes, -2e6, "-2.00 MB"},
		{harness.PerSecond, 343_000.4, "343,000/s"},
	} {
		if got := format(tc.unit, tc.value); got != tc.want {
			t.Errorf("%v in unit %d is written %q, want %q", tc.value, tc.unit, got, tc.want)
		}
	}
}

func TestRatioAndMark(t *testing.T) {
	for _, tc := range []struct {
		name         string
		measure      harness.Measure
		ours, theirs float64
		ratio, mark  string
		short        bool
	}{
		{"no mark", harness.Measure{}, 5, 2, "2.50", "", false},
		{"reached", harness.Measure{Ratio: 0.15}, 15, 100, "0.15", "≤ 0.15", false},
		{"missed", harness.Measure{Ratio: 0.15}, 16, 100, "0.16", "≤ 0.15", true},
		{"missed by less than is shown", harness.Measure{Ratio: 0.15}, 15.1, 100, "0.15", "≤ 0.15", true},
		{"more is better, reached", harness.Measure{Ratio: 3, More: true}, 31, 10, "3.10", "≥ 3", false},
		{"more is better, missed", harness.Measure{Ratio: 1000, More: true}, 5000, 10, "500", "≥ 1000", true},
		{"small", harness.Measure{Ratio: 0.01}, 2, 1000, "0.002", "≤ 0.01", false},
		{"own limit, reached", harness.Measure{Limit: harness.AtMost(0)}, 0, 3, "0.000", "own ≤ 0", false},
		{"own limit, missed", harness.Measure{Limit: harness.AtMost(2)}, 3, 30, "0.10", "own ≤ 2", true},
		{"both, one missed", harness.Measure{Ratio: 0.5, Limit: harness.AtMost(2)}, 2, 3, "0.67", "≤ 0.5, own ≤ 2", true},
		{"nothing on either side", harness.Measure{Ratio: 0.5}, 0, 0, "1.00", "≤ 0.5", true},
		{"nothing on theirs", harness.Measure{Ratio: 0.5}, 1, 0, "∞", "≤ 0.5", true},
	} {
		r := harness.Row{Measure: tc.measure, Results: map[harness.Side]harness.Result{harness.Ours: {Median: tc.ours}, harness.ClientGo: {Median: tc.theirs}}}
		if ratioCell(r) != tc.ratio || markCell(r) != tc.mark || r.IsShort() != tc.short {
			t.Errorf("%s: got %q, %q, short %v; want %q, %q, %v", tc.name, ratioCell(r), markCell(r), r.IsShort(), tc.ratio, tc.mark, tc.short)
		}
	}
	also := harness.Row{Measure: harness.Measure{Ratio: 0.5, Beside: harness.ControllerRuntime, BesideRatio: 0.1}, Results: map[harness.Side]harness.Result{
		harness.Ours: {Median: 2}, harness.ClientGo: {Median: 10}, harness.ControllerRuntime: {Median: 20},
	}}
	if got, want := markCell(also), "≤ 0.5, ≤ 0.1 of controller-runtime"; got != want || also.IsShort() {
		t.Errorf("got %q, short %v, want %q", got, also.IsShort(), want)
	}
	if also.Results[harness.ControllerRuntime] = (harness.Result{Median: 19}); !also.IsShort() {
		t.Error("a mark beside controller-runtime was missed, and the row is not short")
	}
	alone := harness.Row{Measure: harness.Measure{Ratio: 0.5}, Results: map[harness.Side]harness.Result{harness.Ours: {Median: 1}}}
	if ratioCell(alone) != "–" || alone.IsShort() {
		t.Errorf("one side alone has the ratio %q, short %v", ratioCell(alone), alone.IsShort())
	}
}

var madeUp = []harness.Row{
	{Measure: harness.Measure{Name: "time", Unit: harness.Time, Ratio: 0.5}, Results: map[harness.Side]harness.Result{harness.Ours: {Median: 900, Spread: 0.03}, harness.ClientGo: {Median: 1500, Spread: 0.1}, "a bound": {Median: 300, Spread: 0}}},
	{Measure: harness.Measure{Name: "updates", Unit: harness.PerSecond, More: true, Ratio: 100}, Results: map[harness.Side]harness.Result{harness.Ours: {Median: 40_000, Spread: 0}, harness.ClientGo: {Median: 81.25, Spread: 0.5}}},
}

func Example() {
	p := Printer{Out: os.Stdout}
	p.Head()
	p.Title("a made-up benchmark")
	p.Rows(madeUp)
	// Output:
	//                                                      informer-gen          client-go    ratio  mark             beside
	// ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
	// a made-up benchmark
	//   time                                                 900 ns ±3%       1.50 µs ±10%     0.60  ≤ 0.5            a bound 300 ns  short
	//   updates                                                40,000/s        81.2/s ±50%      492  ≥ 100
}

func Example_markdown() {
	p := Printer{Out: os.Stdout, Markdown: true}
	p.Head()
	p.Title("a made-up benchmark")
	p.Rows(madeUp)
	// Output:
	// |  | informer-gen | client-go | ratio | mark | beside |  |
	// | --- | ---: | ---: | ---: | --- | --- | --- |
	// | **a made-up benchmark** |  |  |  |  |  |  |
	// | time | 900 ns ±3% | 1.50 µs ±10% | 0.60 | ≤ 0.5 | a bound 300 ns | short |
	// | updates | 40,000/s | 81.2/s ±50% | 492 | ≥ 100 |  |  |
}
