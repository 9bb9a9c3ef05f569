// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
)

// section is what a table has of a benchmark: its title and its rows.
type section struct {
	bench string // its name
	text  string
}

// sections cuts a table, as a [Printer] writes it, into the line about the machine, the head, and a
// section for each benchmark.
func sections(table string) (machine, head string, all []section, err error) {
	machine, rest, ok := strings.Cut(table, "\n\n")
	if !ok || strings.Contains(machine, "\n") {
		return "", "", nil, errNoMachine
	}
	for text := range strings.Lines(rest) {
		switch {
		case strings.HasPrefix(text, "| **"):
			title, _, _ := strings.Cut(text, "** |")
			_, bench, ok := cutName(title)
			if !ok {
				return "", "", nil, fmt.Errorf("a title of the table has no name in parentheses: %s", strings.TrimSpace(text))
			}
			all = append(all, section{bench, text})
		case len(all) == 0:
			head += text
		default:
			all[len(all)-1].text += text
		}
	}
	return machine, head, all, nil
}

// merge returns the old table with the sections of the fresh one, in the order of the benchmarks
// that there are. A fresh section has the line about the machine beside its title, unless that of
// the old table says the same.
func merge(old, fresh string, order []string) (string, error) {
	freshMachine, _, measured, err := sections(fresh)
	if err != nil {
		return "", err
	}
	if len(measured) >= len(order) {
		return fresh, nil
	}
	machine, head, kept, err := sections(old)
	if err != nil {
		return "", fmt.Errorf("%s: %w", tablePage, err)
	}
	if freshMachine != machine {
		for i, s := range measured {
			measured[i].text = strings.Replace(s.text, "|  |  |  |  |  |  |", "|  |  |  |  | "+freshMachine+" |  |", 1)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n\n%s", machine, head)
	for _, bench := range order {
		for _, from := range [][]section{measured, kept} {
			if i := slices.IndexFunc(from, func(s section) bool { return s.bench == bench }); i >= 0 {
				out.WriteString(from[i].text)
				break
			}
		}
	}
	return out.String(), nil
}
