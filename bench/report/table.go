// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/informer-gen/informer-gen/bench/harness"
)

type printer struct {
	out      io.Writer
	markdown bool
}

var widths = []int{46, 17, 17, 7, 15, 0}

func (p printer) head(against string) {
	names := []string{"", string(harness.Ours), against, "ratio", "mark", ""}
	if p.markdown {
		markdown(p.out, names)
		markdown(p.out, []string{"---", "---:", "---:", "---:", "---", "---"})
		return
	}
	p.text(names)
	fmt.Fprintln(p.out, strings.Repeat("─", 110))
}

// section writes a benchmark's title and rows; "short" ends each row that misses its mark.
func (p printer) section(s section) {
	if p.markdown {
		markdown(p.out, []string{"**" + s.title + " (" + s.bench + ")**", "", "", "", "", ""})
	} else {
		fmt.Fprintf(p.out, "%s (%s)\n", s.title, s.bench)
	}
	for _, r := range s.rows {
		row := cells(r)
		if p.markdown {
			markdown(p.out, row)
			continue
		}
		row[0] = "  " + row[0]
		p.text(row)
	}
}

func markdown(out io.Writer, cells []string) {
	fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
}

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
