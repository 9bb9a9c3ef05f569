// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestRunAllFailsWhenTheSidesSeeDifferentThings(t *testing.T) {
	b := Bench{Name: "lopsided", Measures: []Measure{{Name: "x"}}, Others: []Side{"a bound"}}
	see := func(objects map[Side]int) error {
		_, err := b.RunAll(func(_ Bench, e Env) (Outcome, error) {
			return Outcome{Values: map[string]float64{"x": 1}, Seen: Seen{Objects: objects[e.Side]}}, nil
		}, Sizes{}, "", 1, b.Sides())
		return err
	}
	if err := see(map[Side]int{Ours: 1, ClientGo: 2}); err == nil || !strings.Contains(err.Error(), "did not see the same") {
		t.Errorf("got error %v", err)
	}
	if err := see(map[Side]int{Ours: 2, ClientGo: 2, "a bound": 0}); err != nil {
		t.Errorf("a bound sees nothing, but the error is %v", err)
	}
}

func TestRunAllTakesTurnsAndShowsMedians(t *testing.T) {
	var order []Side
	calls := map[Side]int{}
	b := Bench{Name: "counting", Measures: []Measure{{Name: "x"}}}
	rows, err := b.RunAll(func(_ Bench, e Env) (Outcome, error) {
		order = append(order, e.Side)
		calls[e.Side]++
		return Outcome{Values: map[string]float64{"x": []float64{7, 1, 4}[calls[e.Side]-1]}}, nil
	}, Sizes{}, "", 3, b.Sides())
	if err != nil {
		t.Fatal(err)
	}
	if want := []Side{Ours, ClientGo, ClientGo, Ours, Ours, ClientGo}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if want := (map[Side]Result{Ours: {Median: 4, Spread: 0.75}, ClientGo: {Median: 4, Spread: 0.75}}); !maps.Equal(rows[0].Results, want) {
		t.Errorf("got %v, want %v", rows[0].Results, want)
	}
}

func TestChooseTakesPathsAndTheirBeginnings(t *testing.T) {
	all := []Bench{{Name: "sync/pods/list"}, {Name: "sync/pods/watch-list"}, {Name: "sync-other"}, {Name: "get"}}
	for _, tc := range []struct{ names, want string }{
		{"", "sync/pods/list, sync/pods/watch-list, sync-other, get"},
		{"sync", "sync/pods/list, sync/pods/watch-list"},
		{"get,sync/pods/list", "sync/pods/list, get"},
	} {
		got, err := Choose(all, tc.names)
		if err != nil || listNames(got) != tc.want {
			t.Errorf("%q chooses %s, %v; want %s", tc.names, listNames(got), err, tc.want)
		}
	}
	if _, err := Choose(all, "get,sync/pod"); err == nil || !strings.Contains(err.Error(), `no benchmark "sync/pod"`) {
		t.Errorf("got error %v", err)
	}
}

func TestAProcessThatFailsSaysWhy(t *testing.T) {
	_, err := Children{}.Launch(Bench{Name: "nonesuch"}, Env{Side: Ours})
	if err == nil || !strings.Contains(err.Error(), "no benchmark nonesuch") {
		t.Errorf("got error %v", err)
	}
}

func TestAProcessEndsWithItsParent(t *testing.T) {
	p, err := start(role{}) // a server, which would run on
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := p.in.Close(); err != nil { // as the system does at the end of a process
		t.Fatal(err)
	}
	if _, err := p.out.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the process still writes: %v", err)
	}
	if err := p.wait(); err != nil {
		t.Error(err)
	}
}
