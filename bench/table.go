// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// measure is one row of the table.
type measure struct {
	name string // different from those of the benchmark's other measures
	unit unit
	more bool // more is better
	// the mark: informer-gen's value over client-go's must be at most this, or with more at least;
	// 0: no mark
	ratio float64
	limit limit // of informer-gen's own value
}

// limit is the most that a value may be. The zero value is no limit.
type limit struct {
	max float64
	set bool
}

func atMost(v float64) limit { return limit{v, true} }

// unit is the unit of a value.
type unit int

const (
	number  unit = iota
	inTime       // shown in a unit that fits
	inBytes      // shown in a unit that fits
	perSecond
)

func format(u unit, v float64) string {
	switch u {
	case inTime:
		return duration(v)
	case inBytes:
		return size(v)
	case perSecond:
		return digits(v) + "/s"
	default:
		return digits(v)
	}
}

// digits writes three significant digits, and all of an integer part.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a < 0.005:
		return "0"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

func duration(ns float64) string {
	for _, u := range []struct {
		name string
		ns   time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {"µs", time.Microsecond}} {
		if ns >= float64(u.ns) {
			return digits(ns/float64(u.ns)) + " " + u.name
		}
	}
	return digits(ns) + " ns"
}

func size(b float64) string {
	switch a := math.Abs(b); {
	case a >= 1e6:
		return digits(b/1e6) + " MB"
	case a >= 1e4:
		return digits(b/1e3) + " KB"
	}
	return digits(b) + " B"
}

const invisible = 0.005 // digits shows smaller values as 0

// quotient is informer-gen's value over client-go's; ok is false if there is none.
func (r row) quotient() (q float64, ok bool) {
	a, hasA := r.results[ours]
	b, hasB := r.results[clientGo]
	switch {
	case !hasA || !hasB:
		return 0, false
	case math.Abs(a.median) < invisible && math.Abs(b.median) < invisible:
		return 1, true
	case math.Abs(b.median) < invisible:
		return math.Inf(1), true
	}
	return a.median / b.median, true
}

// isShort reports whether informer-gen misses its mark, as far as that was measured.
func (r row) isShort() bool {
	if own, ok := r.results[ours]; ok && r.limit.set && own.median > r.limit.max {
		return true
	}
	q, ok := r.quotient()
	switch {
	case r.ratio == 0 || !ok:
		return false
	case r.more:
		return q < r.ratio
	}
	return q > r.ratio
}

// ratioCell is the quotient with as many digits as its mark needs.
func ratioCell(r row) string {
	q, ok := r.quotient()
	switch {
	case !ok:
		return "–"
	case math.IsInf(q, 1):
		return "∞"
	case q >= 9.995:
		return thousands(strconv.FormatFloat(q, 'f', 0, 64))
	case math.Abs(q) < 0.0995:
		return strconv.FormatFloat(q, 'f', 3, 64)
	}
	return strconv.FormatFloat(q, 'f', 2, 64)
}

// markCell returns the mark.
func markCell(r row) string {
	var marks []string
	if r.ratio != 0 {
		sign := "≤ "
		if r.more {
			sign = "≥ "
		}
		marks = append(marks, sign+strconv.FormatFloat(r.ratio, 'f', -1, 64))
	}
	if r.limit.set {
		marks = append(marks, "own ≤ "+strings.TrimSuffix(format(r.unit, r.limit.max), ".00"))
	}
	return strings.Join(marks, ", ")
}

// cell is a side's median with the spread.
func cell(r row, s side) string {
	v, ok := r.results[s]
	if !ok {
		return "–"
	}
	text := format(r.unit, v.median)
	if v.spread >= invisible {
		text += fmt.Sprintf(" ±%.0f%%", 100*v.spread)
	}
	return text
}

// othersCell lists the sides beside the two.
func othersCell(r row) string {
	var names []side
	for s := range r.results {
		if s != ours && s != clientGo {
			names = append(names, s)
		}
	}
	slices.Sort(names)
	cells := make([]string, len(names))
	for i, s := range names {
		cells[i] = string(s) + " " + cell(r, s)
	}
	return strings.Join(cells, ", ")
}

// printer writes the table as it comes about.
type printer struct {
	out io.Writer
	md  bool
}

var head = []string{"", string(ours), string(clientGo), "ratio", "mark", "beside", ""}

// widths are those of the text's columns.
var widths = []int{46, 17, 17, 7, 15, 0, 0}

func (p printer) head() {
	if p.md {
		p.markdown(head)
		p.markdown([]string{"---", "---:", "---:", "---:", "---", "---", "---"})
		return
	}
	p.text(head)
	fmt.Fprintln(p.out, strings.Repeat("─", 110))
}

func (p printer) title(title string) {
	if p.md {
		p.markdown([]string{"**" + title + "**", "", "", "", "", "", ""})
		return
	}
	fmt.Fprintln(p.out, title)
}

func (p printer) rows(rows []row) {
	for _, r := range rows {
		short := ""
		if r.isShort() {
			short = "short"
		}
		cells := []string{r.name, cell(r, ours), cell(r, clientGo), ratioCell(r), markCell(r), othersCell(r), short}
		if p.md {
			p.markdown(cells)
			continue
		}
		cells[0] = "  " + cells[0]
		p.text(cells)
	}
}

func (p printer) markdown(cells []string) {
	fmt.Fprintf(p.out, "| %s |\n", strings.Join(cells, " | "))
}

// text writes names and marks to the left of their columns, numbers to the right.
func (p printer) text(cells []string) {
	var line strings.Builder
	for i, c := range cells {
		if i > 0 && c != "" {
			line.WriteString("  ")
		}
		space := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c)))
		if 0 < i && i < 4 {
			line.WriteString(space + c)
		} else {
			line.WriteString(c + space)
		}
	}
	fmt.Fprintln(p.out, strings.TrimRight(line.String(), " "))
}

// suffix is what Go's benchmarks put behind a unit's name.
func (u unit) suffix() string { return [...]string{"", "-ns", "-B", "-per-s"}[u] }
