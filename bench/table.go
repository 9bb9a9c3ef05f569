// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// measure is one line of the table.
type measure struct {
	name string
	unit unit
	more bool // more is better
}

// unit is what a value counts.
type unit int

const (
	number  unit = iota
	inTime       // shown in a unit that fits
	inBytes      // shown in a unit that fits
	perSecond
)

func (u unit) format(v float64) string {
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

// ratio says how many times better informer-gen is than client-go; below 1 it is worse.
func (r row) ratio() string {
	better, worse := r.values[clientGo], r.values[ours]
	if r.more {
		better, worse = worse, better
	}
	const nothing = 0.005 // what digits shows as 0
	switch {
	case worse < nothing && better < nothing:
		return "1.0"
	case worse < nothing:
		return "∞"
	}
	v := better / worse
	if v >= 10 {
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	if v >= 0.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// printer writes the table as it comes about.
type printer struct {
	out io.Writer
	on  []side
}

const nameWidth, valueWidth, ratioWidth = 52, 18, 8

func (p printer) line(name, a, b, ratio string) {
	fmt.Fprintf(p.out, "%-*s %*s %*s %*s\n", nameWidth, name, valueWidth, a, valueWidth, b, ratioWidth, ratio)
}

func (p printer) head(version string) {
	p.line("measure", "informer-gen", "client-go "+version, "ratio")
	fmt.Fprintln(p.out, strings.Repeat("─", nameWidth+2*valueWidth+ratioWidth+3))
}

func (p printer) title(title string) { fmt.Fprintln(p.out, title) }

func (p printer) rows(rows []row) {
	for _, r := range rows {
		cells, ratio := [2]string{"–", "–"}, "–"
		for _, s := range p.on {
			cells[s] = r.unit.format(r.values[s])
		}
		if len(p.on) == len(sides) {
			ratio = r.ratio()
		}
		p.line("  "+r.name, cells[ours], cells[clientGo], ratio)
	}
}
