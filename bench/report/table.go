// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/bench/harness"
)

// Printer writes the table as it comes about.
type Printer struct {
	Out      io.Writer
	Markdown bool
	Against  string // head of the column of the other side; "": client-go
}

var head = []string{"", string(harness.Ours), string(harness.ClientGo), "ratio", "mark", "beside", ""}

// widths are those of the text's columns.
var widths = []int{46, 17, 17, 7, 15, 0, 0}

// Head writes the names of the columns.
func (p Printer) Head() {
	head := slices.Clone(head)
	head[2] = cmp.Or(p.Against, head[2])
	if p.Markdown {
		p.markdown(head)
		p.markdown([]string{"---", "---:", "---:", "---:", "---", "---", "---"})
		return
	}
	p.text(head)
	fmt.Fprintln(p.Out, strings.Repeat("─", 110))
}

// Title writes what the rows that follow are about.
func (p Printer) Title(title string) {
	if p.Markdown {
		p.markdown([]string{"**" + title + "**", "", "", "", "", "", ""})
		return
	}
	fmt.Fprintln(p.Out, title)
}

// Rows writes rows, and "short" at the end of each that misses its mark.
func (p Printer) Rows(rows []harness.Row) {
	for _, r := range rows {
		short := ""
		if r.IsShort() {
			short = "short"
		}
		cells := []string{r.Name, cell(r, harness.Ours), cell(r, r.Theirs()), ratioCell(r), markCell(r), othersCell(r), short}
		if p.Markdown {
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
