// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

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

func markCell(r harness.Row) string {
	switch r.Mark.Kind {
	case harness.AtMost:
		return "own ≤ " + strings.TrimSuffix(format(r.Unit, r.Mark.Value), ".00")
	case harness.AtLeastOfTheirs:
		return "≥ " + Digits(r.Mark.Value)
	}
	text := strconv.FormatFloat(r.Mark.Value, 'f', -1, 64)
	if len(text) > len("0.00") {
		text = "1/" + Digits(math.Round(1 / r.Mark.Value))[:1]
	}
	return "≤ " + text
}

func cell(u harness.Unit, r harness.Result) string {
	if r.Runs == 0 {
		return "–"
	}
	text := format(u, r.Median)
	if r.Spread >= 0.005 {
		text += fmt.Sprintf(" ±%.0f%%", 100*r.Spread)
	}
	return text
}

func cells(r harness.Row) []string {
	short := ""
	if r.IsShort() {
		short = "short"
	}
	return []string{r.Name, cell(r.Unit, r.Ours), cell(r.Unit, r.Theirs), ratioCell(r), markCell(r), short}
}
