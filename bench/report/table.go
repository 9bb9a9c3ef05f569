// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func format(u harness.Unit, v float64) string {
	switch u {
	case harness.Time:
		return duration(v)
	case harness.Bytes:
		return size(v)
	case harness.PerSecond:
		return Digits(v) + "/s"
	default:
		return Digits(v)
	}
}

// Digits writes three significant digits, and all of an integer part.
func Digits(v float64) string {
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
			return Digits(ns/float64(u.ns)) + " " + u.name
		}
	}
	return Digits(ns) + " ns"
}

func size(b float64) string {
	switch a := math.Abs(b); {
	case a >= 1e6:
		return Digits(b/1e6) + " MB"
	case a >= 1e4:
		return Digits(b/1e3) + " KB"
	}
	return Digits(b) + " B"
}

// ratioCell is the quotient with as many digits as its mark needs.
func ratioCell(r harness.Row) string {
	q, ok := r.Quotient()
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
func markCell(r harness.Row) string {
	var marks []string
	if r.Ratio != 0 {
		sign := "≤ "
		if r.More {
			sign = "≥ "
		}
		marks = append(marks, sign+strconv.FormatFloat(r.Ratio, 'f', -1, 64))
	}
	if r.Limit.Set {
		marks = append(marks, "own ≤ "+strings.TrimSuffix(format(r.Unit, r.Limit.Max), ".00"))
	}
	return strings.Join(marks, ", ")
}

// cell is a side's median with the spread.
func cell(r harness.Row, s harness.Side) string {
	v, ok := r.Results[s]
	if !ok {
		return "–"
	}
	text := format(r.Unit, v.Median)
	if v.Spread >= harness.Invisible {
		text += fmt.Sprintf(" ±%.0f%%", 100*v.Spread)
	}
	return text
}

// othersCell lists the sides beside the two.
func othersCell(r harness.Row) string {
	var names []harness.Side
	for s := range r.Results {
		if s != harness.Ours && s != harness.ClientGo {
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

// Printer writes the table as it comes about.
type Printer struct {
	Out io.Writer
	Md  bool
}

var head = []string{"", string(harness.Ours), string(harness.ClientGo), "ratio", "mark", "beside", ""}

// widths are those of the text's columns.
var widths = []int{46, 17, 17, 7, 15, 0, 0}

func (p Printer) Head() {
	if p.Md {
		p.markdown(head)
		p.markdown([]string{"---", "---:", "---:", "---:", "---", "---", "---"})
		return
	}
	p.text(head)
	fmt.Fprintln(p.Out, strings.Repeat("─", 110))
}

func (p Printer) Title(title string) {
	if p.Md {
		p.markdown([]string{"**" + title + "**", "", "", "", "", "", ""})
		return
	}
	fmt.Fprintln(p.Out, title)
}

func (p Printer) Rows(rows []harness.Row) {
	for _, r := range rows {
		short := ""
		if r.IsShort() {
			short = "short"
		}
		cells := []string{r.Name, cell(r, harness.Ours), cell(r, harness.ClientGo), ratioCell(r), markCell(r), othersCell(r), short}
		if p.Md {
			p.markdown(cells)
			continue
		}
		cells[0] = "  " + cells[0]
		p.text(cells)
	}
}

func (p Printer) markdown(cells []string) {
	fmt.Fprintf(p.Out, "| %s |\n", strings.Join(cells, " | "))
}

// text writes names and marks to the left of their columns, numbers to the right.
func (p Printer) text(cells []string) {
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
	fmt.Fprintln(p.Out, strings.TrimRight(line.String(), " "))
}
