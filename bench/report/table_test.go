// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestValuesHaveThreeDigits(t *testing.T) {
	for _, tc := range []struct {
		unit  harness.Unit
		value float64
		want  string
	}{
		{harness.Number, 0, "0"}, {harness.Number, 0.001, "0"}, {harness.Number, 0.5, "0.50"}, {harness.Number, 11.96, "12.0"},
		{harness.Number, 300000, "300,000"}, {harness.Number, -1234567, "-1,234,567"},
		{harness.Time, 22.4, "22.4 ns"}, {harness.Time, 2980, "2.98 µs"}, {harness.Time, 58e6, "58.0 ms"}, {harness.Time, 1.45e9, "1.45 s"},
		{harness.Bytes, 408, "408 B"}, {harness.Bytes, 20_700, "20.7 KB"}, {harness.Bytes, 364e6, "364 MB"}, {harness.Bytes, -2e6, "-2.00 MB"},
		{harness.PerSecond, 343_000.4, "343,000/s"},
	} {
		if got := format(tc.unit, tc.value); got != tc.want {
			t.Errorf("%v in unit %d is written %q, want %q", tc.value, tc.unit, got, tc.want)
		}
	}
}

var madeUp = section{"made-up", "a made-up benchmark", []harness.Row{
	{
		Measure: harness.Measure{Name: "time", Unit: harness.Time, Mark: harness.Mark{Value: 0.5}},
		Ours:    harness.Result{Runs: 3, Median: 900, Spread: 0.03}, Theirs: harness.Result{Runs: 3, Median: 1500, Spread: 0.1},
	},
	{
		Measure: harness.Measure{Name: "updates", Unit: harness.PerSecond, Mark: harness.Mark{Kind: harness.AtLeastOfTheirs, Value: 100}},
		Ours:    harness.Result{Runs: 3, Median: 40_000}, Theirs: harness.Result{Runs: 3, Median: 81.25, Spread: 0.5},
	},
	{
		Measure: harness.Measure{Name: "heap", Unit: harness.Bytes, Mark: harness.Mark{Kind: harness.AtMost, Value: 15e3}},
		Ours:    harness.Result{Runs: 3, Median: 14e3},
	},
}}

func Example() {
	p := printer{out: os.Stdout}
	p.head("client-go")
	p.section(madeUp)
	// Output:
	//                                                      informer-gen          client-go    ratio  mark
	// ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
	// a made-up benchmark (made-up)
	//   time                                                 900 ns ±3%       1.50 µs ±10%     0.60  ≤ 0.5            short
	//   updates                                                40,000/s        81.2/s ±50%      492  ≥ 100
	//   heap                                                    14.0 KB                  –        –  own ≤ 15.0 KB
}

// TestReadmeRowsAreMeasured: the benchmarks measure all rows of README.
func TestReadmeRowsAreMeasured(t *testing.T) {
	var all []section
	for _, bench := range []string{
		"sync/pods/watch-list", "sync/pods/protobuf", "sync/crs/paged-list", "sync/crs/watch-list",
		"relist/watch-list", "relist/protobuf", "event/json", "event/1", "update", "get", "stall",
	} {
		s := section{bench: bench, title: "title of " + bench}
		for _, m := range harness.Measures(bench) {
			s.rows = append(s.rows, harness.Row{Measure: m, Ours: harness.Result{Runs: 1, Median: 1}, Theirs: harness.Result{Runs: 1, Median: 7}})
		}
		all = append(all, s)
	}
	ten, err := tenRows(all)
	if err != nil || strings.Count(ten, "\n") != 12 || !strings.Contains(ten, "| title of get: CPU time, per Get | 1.00 ns | 7.00 ns | 0.14 | ≤ 1.5 |") {
		t.Errorf("got %v\n%s", err, ten)
	}
	three, err := threeNumbers(all)
	if err != nil || strings.Count(three, "**, with client-go ") != 6 {
		t.Errorf("got %v\n%s", err, three)
	}
}

// TestWriteInto: only the text between a page's markers changes.
func TestWriteInto(t *testing.T) {
	for page, lines := range map[string][]string{
		"README.md":          {"<!-- bench: three numbers -->", "<!-- bench: ten rows -->"},
		"docs/benchmarks.md": {"<!-- bench -->", "<!-- bench: generator -->"},
		"docs/watchcache.md": {"<!-- bench -->"},
	} {
		content, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/page.md"
		for _, line := range lines {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := writeInto(path, line, "new\n"); err != nil {
				t.Errorf("%s: %v", page, err)
			}
			before, rest, _ := strings.Cut(string(content), line+"\n")
			_, after, _ := strings.Cut(rest, markerEnd)
			if got, err := os.ReadFile(path); err != nil || string(got) != before+line+"\nnew\n"+markerEnd+after {
				t.Errorf("%s, %s: %v, or more has changed than the text", page, line, err)
			}
		}
	}
}
