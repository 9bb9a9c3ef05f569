// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// Pages are the files that show what was measured: the text between their markers and the pictures.
// The table of docs/benchmarks.md is the source of all others.
type Pages struct {
	root  string           // the repository's folder
	pages map[string]*Page // by path below root
}

// The files, below the repository's root.
const (
	tablePage  = "docs/benchmarks.md"
	readmePage = "README.md"
)

// Where the two tables of the README begin.
const (
	numbersBegin = "<!-- bench: three numbers -->\n"
	readmeBegin  = "<!-- bench: ten rows -->\n"
)

var begins = map[string]string{tablePage: tableBegin, readmePage: readmeBegin}

// OpenPages reads the pages. It fails if one of them or a marker in it is missing.
func OpenPages(root string) (*Pages, error) {
	p := &Pages{root: root, pages: map[string]*Page{}}
	for _, path := range slices.Sorted(maps.Keys(begins)) {
		page, err := openPage(p.at(path), begins[path])
		if err != nil {
			return nil, err
		}
		p.pages[path] = page
	}
	_, err := openPage(p.at(readmePage), numbersBegin)
	return p, err
}

func (p *Pages) at(path string) string { return filepath.Join(p.root, filepath.FromSlash(path)) }

// files returns the contents of all files, by path, for a table as a [Printer] writes it, below a
// line about the machine.
func (p *Pages) files(table string) (map[string]string, error) {
	r, err := readReport(table)
	if err != nil {
		return nil, err
	}
	rows, err := r.tenRows()
	if err != nil {
		return nil, err
	}
	numbers, err := r.threeNumbers()
	if err != nil {
		return nil, err
	}
	readme, err := cutPage(readmePage, p.pages[readmePage].with(rows), numbersBegin)
	if err != nil {
		return nil, err
	}
	files := map[string]string{tablePage: p.pages[tablePage].with(table), readmePage: readme.with(numbers)}
	for path, colors := range pictures {
		if files[path], err = r.draw(colors); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Write puts the table, and what is made of it, into the files. A benchmark of order that the table
// lacks keeps the rows that it has on the page.
func (p *Pages) Write(table string, order []string) error {
	table, err := merge(p.pages[tablePage].text, table, order)
	if err != nil {
		return err
	}
	files, err := p.files(table)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(filepath.Dir(p.at(path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p.at(path), []byte(files[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// report is a table that was read back.
type report struct {
	machine string // date, versions, cores, runs
	lines   []line
}

// line is a row of the table.
type line struct {
	bench                                    string // its name
	what                                     string // the benchmark's title and the measure
	measure, ours, theirs, ratio, mark, note string // the cells
}

var errNoMachine = errors.New("the table doesn't begin with a line about the machine, and an empty one")

// cutName cuts what a title says from the benchmark's name, which is in parentheses at its end.
func cutName(title string) (what, bench string, ok bool) {
	at := strings.LastIndex(title, " (")
	if at < 0 || !strings.HasSuffix(title, ")") {
		return "", "", false
	}
	return title[:at], title[at+2 : len(title)-1], true
}

// readReport reads what a [Printer] writes as Markdown.
func readReport(table string) (report, error) {
	machine, rest, ok := strings.Cut(table, "\n\n| ")
	if !ok || strings.Contains(machine, "\n") {
		return report{}, errNoMachine
	}
	r := report{machine: machine}
	title, bench := "", ""
	for n, text := range strings.Split(strings.TrimSpace("| "+rest), "\n") {
		cells := strings.Split(strings.Trim(text, "|"), "|")
		if len(cells) != len(head) {
			return report{}, fmt.Errorf("row %d of the table has %d cells, want %d: %s", n+1, len(cells), len(head), text)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case n < 2: // the head
		case strings.HasPrefix(cells[0], "**"):
			if title, bench, ok = cutName(strings.Trim(cells[0], "*")); !ok {
				return report{}, fmt.Errorf("row %d of the table has no name in parentheses: %s", n+1, text)
			}
		default:
			r.lines = append(r.lines, line{
				bench: bench, what: title + ": " + cells[0],
				measure: cells[0], ours: cells[1], theirs: cells[2], ratio: cells[3], mark: cells[4], note: cells[6],
			})
		}
	}
	return r, nil
}

// Pick names a row that is shown.
type Pick struct{ Bench, Measure string }

// find returns the row of that name.
func (r report) find(p Pick) (line, error) {
	for _, l := range r.lines {
		if l.bench == p.Bench && l.measure == p.Measure {
			return l, nil
		}
	}
	return line{}, fmt.Errorf("the table has no row %q of %s", p.Measure, p.Bench)
}

// tenPicks are the rows that the README shows: what matters most, with what informer-gen loses.
var tenPicks = []Pick{
	{"sync/pods/watch-list", "wall time"},
	{"sync/pods/watch-list", "peak heap"},
	{"sync/crs/paged-list", "wall time"},
	{"sync/crs/watch-list", "heap retained, per object"},
	{"relist/watch-list", "wall time, from the first request"},
	{"http-events", "events"},
	{"event/single/1", "wall time, per event"},
	{"update/none", "CPU time, per update"},
	{"list", "all: loop, CPU time"},
	{"stall", "heap growth"},
}

// number is a figure on the README's first screen.
type number struct {
	what    string // has the sizes that the benchmarks' titles have
	formats []Pick // in JSON, in protobuf
}

// numbers are the figures of the first screen.
var numbers = []number{
	{"20,000 Pods are in the cache after", []Pick{{"sync/pods/watch-list", "wall time"}, {"protobuf/watch-list", "wall time"}}},
	{"each of them takes", []Pick{{"sync/pods/watch-list", "heap retained, per object"}, {"protobuf/watch-list", "heap retained, per object"}}},
	{"a relist of 100,000 Pods finds 1,000 changed ones in", []Pick{{"relist/watch-list", "wall time, from the first request"}, {"relist/protobuf", "wall time, from the first request"}}},
}

// Picks returns all rows that are shown outside of the table.
func Picks() []Pick {
	picks := slices.Concat(tenPicks, drawnPicks)
	for _, n := range numbers {
		picks = append(picks, n.formats...)
	}
	return picks
}

// threeNumbers is the table on the README's first screen.
func (r report) threeNumbers() (string, error) {
	var out strings.Builder
	p := Printer{Out: &out}
	p.markdown([]string{"", "in JSON", "in protobuf, as built-in kinds come"})
	p.markdown([]string{"---", "---", "---"})
	for _, n := range numbers {
		cells := []string{n.what}
		for _, which := range n.formats {
			l, err := r.find(which)
			if err != nil {
				return "", err
			}
			ours, _, _ := strings.Cut(l.ours, " ±")
			theirs, _, _ := strings.Cut(l.theirs, " ±")
			cells = append(cells, fmt.Sprintf("**%s**, with %s %s", ours, harness.ClientGo, theirs))
		}
		p.markdown(cells)
	}
	return out.String(), nil
}

// tenRows is the table of the README.
func (r report) tenRows() (string, error) {
	var out strings.Builder
	p := Printer{Out: &out}
	p.markdown([]string{"", string(harness.Ours), string(harness.ClientGo), "ratio", "mark", ""})
	p.markdown([]string{"---", "---:", "---:", "---:", "---", "---"})
	for _, which := range tenPicks {
		l, err := r.find(which)
		if err != nil {
			return "", err
		}
		p.markdown([]string{l.what, l.ours, l.theirs, l.ratio, l.mark, l.note})
	}
	return out.String(), nil
}
