// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// unit is what a value counts.
type unit int

const (
	number unit = iota
	seconds
	bytes // shown in MiB
)

func (u unit) format(v float64) string {
	switch u {
	case seconds:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case bytes:
		return strconv.FormatFloat(v/(1<<20), 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// name is what stands behind a row's name.
func (u unit) name() string {
	switch u {
	case seconds:
		return ", s"
	case bytes:
		return ", MiB"
	}
	return ""
}

// mark is how many times less than the other side ours must take; 0 is no mark.
type mark float64

func (m mark) String() string {
	if m == 0 {
		return ""
	}
	return fmt.Sprintf("≥ %g", float64(m))
}

// row is a line of the table, with the values of all runs of each side.
type row struct {
	name   string
	unit   unit
	mark   mark
	values [2][]float64
}

// ratio is how many times less ours takes; 0 if that can't be said.
func (r row) ratio() float64 {
	mine, other := median(r.values[ours]), median(r.values[theirs])
	if mine == 0 {
		return 0
	}
	return other / mine
}

// short reports whether ours misses the mark. A value that could not be measured does.
func (r row) short() bool {
	return r.ratio() < float64(r.mark)
}

// cells are what stands in the columns.
func (r row) cells() []string {
	cells := []string{r.name + r.unit.name()}
	for _, s := range sides {
		cells = append(cells, spread(r.unit, r.values[s]))
	}
	ratio := "–"
	if v := r.ratio(); v > 0 {
		ratio = strconv.FormatFloat(v, 'f', 1, 64)
	}
	verdict := ""
	if r.short() {
		verdict = "short"
	}
	return append(cells, ratio, r.mark.String(), verdict)
}

// spread is the median and, if there is more than one value, the smallest and the largest one.
func spread(u unit, values []float64) string {
	switch len(values) {
	case 0:
		return "–"
	case 1:
		return u.format(values[0])
	}
	return fmt.Sprintf("%s (%s–%s)", u.format(median(values)), u.format(slices.Min(values)), u.format(slices.Max(values)))
}

// median is 0 if there are no values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// table is what is printed.
type table struct {
	markdown bool
	rows     []row
}

var head = []string{"measure", ours.String(), theirs.String(), "ratio", "mark", ""}

// String has a line for each row; the last word of a row that misses its mark is "short".
func (t table) String() string {
	lines := [][]string{head}
	for _, r := range t.rows {
		lines = append(lines, r.cells())
	}
	var b strings.Builder
	if t.markdown {
		for i, cells := range lines {
			b.WriteString(strings.TrimRight("| "+strings.Join(cells[:5], " | ")+" | "+cells[5], " ") + "\n")
			if i == 0 {
				b.WriteString("|---|--:|--:|--:|--:|\n")
			}
		}
		return b.String()
	}
	widths := make([]int, len(head))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for i, cells := range lines {
		line := ""
		for j, cell := range cells {
			pad := strings.Repeat(" ", widths[j]-len([]rune(cell)))
			if j == 0 || j == len(cells)-1 {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i == 0 {
			b.WriteString(strings.Repeat("─", len([]rune(strings.TrimRight(line, " ")))) + "\n")
		}
	}
	return b.String()
}
