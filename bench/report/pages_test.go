// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/bench/harness"
)

var update = flag.Bool("update", false, "write the README's rows and picture anew, from the table of docs/benchmarks.md")

// What the README shows is what docs/benchmarks.md has, by name.
func TestReadmeAndPicturesShowTheTable(t *testing.T) {
	p, err := OpenPages("../..")
	if err != nil {
		t.Fatal(err)
	}
	table := p.pages[tablePage].text
	if *update {
		if err := p.Write(table, nil); err != nil {
			t.Fatal(err)
		}
	}
	files, err := p.files(table)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("there are %d files, want 4", len(files))
	}
	for path, want := range files {
		if got, err := os.ReadFile(p.at(path)); err != nil || string(got) != want {
			t.Errorf("%s differs from the table of %s (error %v); go test ./bench/report -run %s -update writes it", path, tablePage, err, t.Name())
		}
	}
}

func TestReadmeHasAtMostTenRows(t *testing.T) {
	if len(tenPicks) > 10 {
		t.Errorf("the README has %d rows, want at most ten", len(tenPicks))
	}
}

// The README's first numbers are those of their rows, and so are those in the words beside them.
func TestFirstNumbersAreThoseOfTheirRows(t *testing.T) {
	table, _ := madeUpTable()
	r, err := readReport(table)
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.threeNumbers()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		for _, pick := range n.formats {
			l, err := r.find(pick)
			if err != nil {
				t.Fatal(err)
			}
			ours, _, _ := strings.Cut(l.ours, " ±")
			theirs, _, _ := strings.Cut(l.theirs, " ±")
			if cell := "**" + ours + "**, with client-go " + theirs + " |"; strings.Contains(ours+theirs, "±") || !strings.Contains(text, cell) {
				t.Errorf("%s of %s: there is no cell %q in\n%s", pick.Measure, pick.Bench, cell, text)
			}
		}
	}
	if _, err := (report{}).threeNumbers(); err == nil || !strings.Contains(err.Error(), `no row "wall time" of sync/pods/watch-list`) {
		t.Errorf("got error %v", err)
	}
}

// The benchmarks behind the README's first numbers have the sizes that it names.
func TestFirstNumbersNameTheSizes(t *testing.T) {
	p, err := OpenPages("../..")
	if err != nil {
		t.Fatal(err)
	}
	r, err := readReport(p.pages[tablePage].text)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		for _, pick := range n.formats {
			l, err := r.find(pick)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range aNumber.FindAllString(n.what, -1) {
				if size = strings.TrimRight(size, ",."); !strings.Contains(l.what, size) {
					t.Errorf("%q names %s, the benchmark is %q", n.what, size, l.what)
				}
			}
		}
	}
}

// madeUpTable has the picked rows, each with numbers of its own, as printer writes them.
func madeUpTable() (table string, used []line) {
	var out strings.Builder
	out.WriteString("2026-01-02, 3 < 4 cores\n\n")
	p := Printer{Out: &out, Markdown: true}
	p.Head()
	n := 100.0
	all := Picks()
	for i, pick := range all {
		if slices.Contains(all[:i], pick) {
			continue
		}
		p.Title("a made-up benchmark (" + pick.Bench + ")")
		n += 3
		p.Rows([]harness.Row{{Measure: harness.Measure{Name: pick.Measure, Unit: harness.Time}, Results: map[harness.Side]harness.Result{harness.Ours: {Median: n, Spread: 0.5}, harness.ClientGo: {Median: 7 * n, Spread: 0.25}}}})
	}
	r, err := readReport(out.String())
	if err != nil {
		panic(err)
	}
	for _, p := range drawnPicks {
		l, err := r.find(p)
		if err != nil {
			panic(err)
		}
		used = append(used, l)
	}
	return out.String(), used
}

var aNumber = regexp.MustCompile(`[0-9][0-9.,]*`)

// A picture is well-formed, always the same, and has no number that isn't one of its rows'.
func TestPictureShowsNumbersOfItsRowsOnly(t *testing.T) {
	table, used := madeUpTable()
	r, err := readReport(table)
	if err != nil {
		t.Fatal(err)
	}
	known := r.machine
	for _, l := range used {
		known += " " + strings.Join([]string{l.what, l.ours, l.theirs, l.ratio}, " ")
	}
	numbers := aNumber.FindAllString(known, -1)
	for path, c := range pictures {
		picture, err := r.draw(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := r.draw(c); again != picture {
			t.Errorf("%s is drawn in two ways", path)
		}
		var drawn []string
		for d := xml.NewDecoder(strings.NewReader(picture)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v in:\n%s", path, err, picture)
			}
			if text, ok := token.(xml.CharData); ok {
				drawn = append(drawn, aNumber.FindAllString(string(text), -1)...)
			}
		}
		for _, n := range drawn {
			if !slices.Contains(numbers, n) {
				t.Errorf("%s shows %s, which is in none of its rows", path, n)
			}
		}
		for _, l := range used {
			for _, n := range aNumber.FindAllString(l.ours+" "+l.theirs+" "+l.ratio, -1) {
				if !slices.Contains(drawn, n) {
					t.Errorf("%s doesn't show %s, %s of %s", path, n, l.measure, l.bench)
				}
			}
		}
	}
}

func TestPicturesNeedARatio(t *testing.T) {
	l := line{bench: drawnPicks[0].Bench, measure: drawnPicks[0].Measure, ratio: "–"}
	if _, err := (report{lines: []line{l}}).draw(colors{}); err == nil || !strings.Contains(err.Error(), `the ratio is "–"`) {
		t.Errorf("got error %v", err)
	}
	if _, err := (report{}).draw(colors{}); err == nil || !strings.Contains(err.Error(), `no row "wall time" of sync/pods/watch-list`) {
		t.Errorf("got error %v", err)
	}
}

// All that a run writes goes between the markers, and what stands around them stays.
func TestPagesAreWrittenBetweenTheirMarkers(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		at := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		if _, err := OpenPages(root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that contains %q", err, want)
		}
	}
	refused("run it in the root of the repository")
	put(readmePage, "above\n"+readmeBegin+"old\n"+markerEnd+"below\n")
	put(tablePage, "above\n"+tableBegin+"old\n"+markerEnd+"below\n")
	refused("README.md has no line <!-- bench: three numbers -->")
	above := "above\n" + numbersBegin
	put(readmePage, above+"old\n"+markerEnd+"between\n"+readmeBegin+"old\n"+markerEnd+"below\n")
	put(tablePage, "above\nold\n"+markerEnd+"below\n")
	refused("docs/benchmarks.md has no line <!-- bench -->")
	put(tablePage, "above\n"+tableBegin+"old\nbelow\n")
	refused("docs/benchmarks.md has no line <!-- /bench --> after <!-- bench -->")
	put(tablePage, "above\n"+tableBegin+"old\n"+markerEnd+"below\n")

	p, err := OpenPages(root)
	if err != nil {
		t.Fatal(err)
	}
	table, _ := madeUpTable()
	if err := p.Write(table, nil); err != nil {
		t.Fatal(err)
	}
	p, err = OpenPages(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *p.pages[tablePage], (Page{p.at(tablePage), "above\n" + tableBegin, table, markerEnd + "below\n"}); got != want {
		t.Errorf("%s is %+v, want %+v", tablePage, got, want)
	}
	readme := p.pages[readmePage]
	if strings.Count(readme.text, "\n") != 2+len(tenPicks) || readme.after != markerEnd+"below\n" {
		t.Errorf("%s is %+v", readmePage, *readme)
	}
	first, ok := strings.CutPrefix(readme.before, above)
	first, ok2 := strings.CutSuffix(first, markerEnd+"between\n"+readmeBegin)
	if !ok || !ok2 || strings.Count(first, "\n") != 2+len(numbers) {
		t.Errorf("%s begins with\n%s", readmePage, readme.before)
	}
	if err := p.Write("no table", nil); err == nil {
		t.Error("what is no table was written")
	}
}

// A run of some benchmarks replaces their rows, and keeps the others.
func TestSomeRowsAreWritten(t *testing.T) {
	table := func(machine string, sections ...string) string {
		var out strings.Builder
		out.WriteString(machine + "\n\n")
		p := Printer{Out: &out, Markdown: true}
		p.Head()
		for _, s := range sections {
			name, value, _ := strings.Cut(s, "=")
			p.Title("made up (" + name + ")")
			p.markdown([]string{value, "", "", "", "", "", ""})
		}
		return out.String()
	}
	beside := func(table, bench, note string) string {
		title := "| **made up (" + bench + ")** |  |  |  |  | "
		return strings.Replace(table, title+" |  |", title+note+" |  |", 1)
	}
	old := table("monday", "a=1", "b=1", "gone=1", "d=1")
	order := []string{"a", "b", "c", "d"}
	for _, tc := range []struct{ name, old, measured, want string }{
		{"one that was there", old, table("monday", "b=2"), table("monday", "a=1", "b=2", "d=1")},
		{"a new one", old, table("monday", "c=2"), table("monday", "a=1", "b=1", "c=2", "d=1")},
		{"on another day", old, table("tuesday", "d=2", "a=2"), beside(beside(table("monday", "a=2", "b=1", "d=2"), "a", "tuesday"), "d", "tuesday")},
		{
			"and again", beside(table("monday", "a=2", "b=1"), "a", "tuesday"), table("sunday", "a=3"),
			beside(table("monday", "a=3", "b=1"), "a", "sunday"),
		},
		{"all", old, table("tuesday", "a=2", "b=2", "c=2", "d=2"), table("tuesday", "a=2", "b=2", "c=2", "d=2")},
	} {
		if got, err := merge(tc.old, tc.measured, order); err != nil || got != tc.want {
			t.Errorf("%s: got error %v and\n%swant\n%s", tc.name, err, got, tc.want)
		}
	}
	for _, tc := range []struct{ old, measured, want string }{
		{old, "no table", "a line about the machine"},
		{"no table", table("monday", "a=2"), "docs/benchmarks.md: the table doesn't begin with a line about the machine"},
		{old, strings.Replace(table("monday", "a=2"), "(a)", "", 1), "no name in parentheses"},
	} {
		if _, err := merge(tc.old, tc.measured, order); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got error %v, want one that contains %q", err, tc.want)
		}
	}
}
