// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/informer-gen/informer-gen/bench/harness"
)

type pick struct{ bench, measure string }

// tenPicks are the most important rows, including losses of informer-gen.
var tenPicks = []pick{
	{"sync/pods/watch-list", harness.WallTime},
	{"sync/pods/watch-list", harness.RetainedPer},
	{"sync/crs/paged-list", harness.WallTime},
	{"sync/crs/watch-list", harness.RetainedPer},
	{"relist/watch-list", "wall time, from the first request"},
	{"event/json", "CPU time, per event"},
	{"event/1", "CPU time, per event"},
	{"update", "CPU time, per update"},
	{"get", "CPU time, per Get"},
	{"stall", "heap growth"},
}

// numbers are the figures of the README's first screen, in JSON and in protobuf.
var numbers = []struct {
	what    string
	formats []pick
}{
	{"20,000 Pods are in the cache after", []pick{{"sync/pods/watch-list", harness.WallTime}, {"sync/pods/protobuf", harness.WallTime}}},
	{"each of them takes", []pick{{"sync/pods/watch-list", harness.RetainedPer}, {"sync/pods/protobuf", harness.RetainedPer}}},
	{"a relist of 100,000 Pods finds 1,000 changed ones in", []pick{
		{"relist/watch-list", "wall time, from the first request"}, {"relist/protobuf", "wall time, from the first request"},
	}},
}

type section struct {
	bench, title string
	rows         []harness.Row
}

func find(all []section, p pick) (title string, row harness.Row, err error) {
	for _, s := range all {
		for _, r := range s.rows {
			if s.bench == p.bench && r.Name == p.measure {
				return s.title, r, nil
			}
		}
	}
	return "", harness.Row{}, fmt.Errorf("there is no row %q of %s", p.measure, p.bench)
}

func threeNumbers(all []section) (string, error) {
	var out strings.Builder
	markdown(&out, []string{"", "in JSON", "in protobuf, as built-in kinds come"})
	markdown(&out, []string{"---", "---", "---"})
	for _, n := range numbers {
		cells := []string{n.what}
		for _, p := range n.formats {
			_, r, err := find(all, p)
			if err != nil {
				return "", err
			}
			cells = append(cells, fmt.Sprintf("**%s**, with %s %s", format(r.Unit, r.Ours.Median), harness.ClientGo, format(r.Unit, r.Theirs.Median)))
		}
		markdown(&out, cells)
	}
	return out.String(), nil
}

func tenRows(all []section) (string, error) {
	var out strings.Builder
	markdown(&out, []string{"", string(harness.Ours), string(harness.ClientGo), "ratio", "mark", ""})
	markdown(&out, []string{"---", "---:", "---:", "---:", "---", "---"})
	for _, p := range tenPicks {
		title, r, err := find(all, p)
		if err != nil {
			return "", err
		}
		row := cells(r)
		row[0] = title + ": " + row[0]
		markdown(&out, row)
	}
	return out.String(), nil
}
