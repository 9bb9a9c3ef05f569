// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"slices"
	"strings"
	"testing"
)

func TestRunAllFailsIfSidesDiffer(t *testing.T) {
	b := Bench{Name: "lopsided"}
	_, err := b.RunAll(func(_ Bench, e Env) (Outcome, error) {
		return Outcome{Seen: Seen{Objects: len(e.Side)}}, nil
	}, Sizes{}, "", 1, b.Sides())
	if err == nil || !strings.Contains(err.Error(), "did not see the same") {
		t.Errorf("got error %v", err)
	}
}

func TestRunAllTakesTurnsAndShowsMedians(t *testing.T) {
	var order []Side
	calls := map[Side]int{}
	b := Bench{Name: "queue"}
	rows, err := b.RunAll(func(_ Bench, e Env) (Outcome, error) {
		order = append(order, e.Side)
		calls[e.Side]++
		return Outcome{Values: map[string]float64{Measures("queue")[0].Name: []float64{7, 1, 4}[calls[e.Side]-1]}}, nil
	}, Sizes{}, "", 3, b.Sides())
	if err != nil {
		t.Fatal(err)
	}
	if want := []Side{Ours, ClientGo, ClientGo, Ours, Ours, ClientGo}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if want := (Result{Runs: 3, Median: 4, Spread: 0.75}); rows[0].Ours != want || rows[0].Theirs != want {
		t.Errorf("got %v, want %v twice", rows[0], want)
	}
}

func TestChooseTakesPathsAndPrefixes(t *testing.T) {
	all := []Bench{{Name: "sync/pods/list"}, {Name: "sync/pods/watch-list"}, {Name: "sync-other"}, {Name: "get"}}
	for names, want := range map[string]string{
		"":                   "sync/pods/list, sync/pods/watch-list, sync-other, get",
		"sync":               "sync/pods/list, sync/pods/watch-list",
		"get,sync/pods/list": "sync/pods/list, get",
	} {
		if got, err := Choose(all, names); err != nil || listNames(got) != want {
			t.Errorf("%q chooses %s, %v; want %s", names, listNames(got), err, want)
		}
	}
	if _, err := Choose(all, "syn"); err == nil {
		t.Error("a part of a name chooses something")
	}
}

func TestIsShort(t *testing.T) {
	for _, tc := range []struct {
		mark         Mark
		ours, theirs float64
		short        bool
	}{
		{ratio(0.15), 15, 100, false}, {ratio(0.15), 15.1, 100, true}, {ratio(0.5), 1, 0, true}, {ratio(0.5), 0, 0, true},
		{Mark{AtLeastOfTheirs, 1000}, 5000, 10, true}, {Mark{AtLeastOfTheirs, 3}, 31, 10, false},
		{own(2), 3, 30, true}, {own(0), 0, 3, false},
	} {
		if got := (Row{Measure{Mark: tc.mark}, Result{Runs: 1, Median: tc.ours}, Result{Runs: 1, Median: tc.theirs}}).IsShort(); got != tc.short {
			t.Errorf("%v beside %v, mark %v: short is %v", tc.ours, tc.theirs, tc.mark, got)
		}
	}
}
