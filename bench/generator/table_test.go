// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
)

func sample() table {
	return table{rows: []row{
		{name: "lines", values: [2][]float64{{15000}, {46000}}},
		{name: "wall", unit: seconds, mark: 6, values: [2][]float64{{0.5, 0.4, 0.9}, {4, 5, 4.5}}},
		{name: "CPU", unit: seconds, mark: 6, values: [2][]float64{{1}, {5.9}}},
		{name: "peak", unit: bytes, mark: 4, values: [2][]float64{{100 << 20}, {400 << 20}}},
		{name: "not measured", unit: bytes, mark: 4, values: [2][]float64{{0}, {0}}},
	}}
}

func Example() {
	fmt.Print(sample())
	// Output:
	// measure                informer-gen  lister-gen + informer-gen  ratio  mark
	// ───────────────────────────────────────────────────────────────────────────
	// lines                         15000                      46000    3.1
	// wall, s            0.50 (0.40–0.90)           4.50 (4.00–5.00)    9.0   ≥ 6
	// CPU, s                         1.00                       5.90    5.9   ≥ 6  short
	// peak, MiB                       100                        400    4.0   ≥ 4
	// not measured, MiB                 0                          0      –   ≥ 4  short
}

func TestMarkdownHasTheCellsOfTheTable(t *testing.T) {
	short := table{markdown: true, rows: sample().rows[1:3]}
	const want = `| measure | informer-gen | lister-gen + informer-gen | ratio | mark |
|---|--:|--:|--:|--:|
| wall, s | 0.50 (0.40–0.90) | 4.50 (4.00–5.00) | 9.0 | ≥ 6 |
| CPU, s | 1.00 | 5.90 | 5.9 | ≥ 6 | short
`
	if got := short.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestARowThatMissesItsMarkEndsWithShort(t *testing.T) {
	for _, r := range sample().rows {
		text := table{rows: []row{r}}.String()
		if got := strings.HasSuffix(text, " short\n"); got != r.short() {
			t.Errorf("short is %v, and the row is\n%s", r.short(), text)
		}
	}
}

func TestMedianOfEvenAndOddNumbers(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(tc.values); got != tc.want {
			t.Errorf("median of %v is %v, want %v", tc.values, got, tc.want)
		}
	}
}
