// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if playRole(benches()) {
		return
	}
	klog.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// Each benchmark runs once on each side as it does for the table: in processes of its own, beside a
// server process.
func TestEveryBenchmarkRunsAndAllSidesSeeTheSame(t *testing.T) {
	var s server
	defer s.stop()
	for _, b := range benches() {
		t.Run(b.name, func(t *testing.T) {
			rows, err := b.runAll(children{}.launch, small, serveFor(t, &s, b), 1, b.sides())
			if err != nil {
				t.Fatal(err) // also if the sides differ in what they saw
			}
			for _, r := range rows {
				for _, side := range []side{ours, clientGo} {
					if v, ok := r.results[side]; !ok || math.IsNaN(v.median) || math.IsInf(v.median, 0) {
						t.Errorf("%s of %s: got %+v, %v", r.name, side, v, ok)
					}
				}
			}
		})
	}
}

// What runs report as seen must be what there was to see, or comparing the sides would be worth
// nothing.
func TestRunsReportWhatTheySaw(t *testing.T) {
	var s server
	defer s.stop()
	for _, b := range httpBenches() {
		w := b.world(small)
		want := seen{Objects: w.objects(), Events: w.objects() + w.Changed + w.Events}
		for _, side := range []side{ours, clientGo} {
			o, err := inProcess(b, env{side: side, sizes: small, server: serveFor(t, &s, b), deep: true})
			if err != nil {
				t.Fatalf("%s, %v: %v", b.name, side, err)
			}
			if got := (seen{Objects: o.Seen.Objects, Events: o.Seen.Events}); got != want {
				t.Errorf("%s, %v: saw %+v, want %+v", b.name, side, got, want)
			}
			if o.Seen.Digest == 0 {
				t.Errorf("%s, %v: no digest", b.name, side)
			}
			known := map[string]bool{}
			for _, m := range b.measures {
				known[m.name] = true
			}
			if len(known) != len(b.measures) {
				t.Errorf("%s: two measures have one name", b.name)
			}
		}
	}
}

// serveFor returns the address of a server with what b needs.
func serveFor(t testing.TB, s *server, b bench) string {
	t.Helper()
	if b.world == nil {
		return ""
	}
	address, err := s.show(b.world(small))
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// inProcess does one run in this process.
func inProcess(b bench, e env) (outcome, error) {
	return b.once(e, func(run func() (outcome, error)) (outcome, error) { return run() })
}

func TestRunAllFailsWhenTheSidesSeeDifferentThings(t *testing.T) {
	b := bench{name: "lopsided", measures: []measure{{name: "x"}}, others: []side{"a bound"}}
	see := func(objects map[side]int) error {
		_, err := b.runAll(func(_ bench, e env) (outcome, error) {
			return outcome{Values: map[string]float64{"x": 1}, Seen: seen{Objects: objects[e.side]}}, nil
		}, sizes{}, "", 1, b.sides())
		return err
	}
	if err := see(map[side]int{ours: 1, clientGo: 2}); err == nil || !strings.Contains(err.Error(), "did not see the same") {
		t.Errorf("got error %v", err)
	}
	if err := see(map[side]int{ours: 2, clientGo: 2, "a bound": 0}); err != nil {
		t.Errorf("a bound sees nothing, but the error is %v", err)
	}
}

func TestRunAllTakesTurnsAndShowsMedians(t *testing.T) {
	var order []side
	calls := map[side]int{}
	b := bench{name: "counting", measures: []measure{{name: "x"}}}
	rows, err := b.runAll(func(_ bench, e env) (outcome, error) {
		order = append(order, e.side)
		calls[e.side]++
		return outcome{Values: map[string]float64{"x": []float64{7, 1, 4}[calls[e.side]-1]}}, nil
	}, sizes{}, "", 3, b.sides())
	if err != nil {
		t.Fatal(err)
	}
	if want := []side{ours, clientGo, clientGo, ours, ours, clientGo}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if want := (map[side]result{ours: {median: 4, spread: 0.75}, clientGo: {median: 4, spread: 0.75}}); !maps.Equal(rows[0].results, want) {
		t.Errorf("got %v, want %v", rows[0].results, want)
	}
}

func TestChooseTakesPathsAndTheirBeginnings(t *testing.T) {
	all := []bench{{name: "sync/pods/list"}, {name: "sync/pods/watch-list"}, {name: "sync-other"}, {name: "get"}}
	for _, tc := range []struct{ names, want string }{
		{"", "sync/pods/list, sync/pods/watch-list, sync-other, get"},
		{"sync", "sync/pods/list, sync/pods/watch-list"},
		{"get,sync/pods/list", "sync/pods/list, get"},
	} {
		got, err := choose(all, tc.names)
		if err != nil || listNames(got) != tc.want {
			t.Errorf("%q chooses %s, %v; want %s", tc.names, listNames(got), err, tc.want)
		}
	}
	if _, err := choose(all, "get,sync/pod"); err == nil || !strings.Contains(err.Error(), `no benchmark "sync/pod"`) {
		t.Errorf("got error %v", err)
	}
}

func TestTheTableHasALineForEachMeasure(t *testing.T) {
	var out bytes.Buffer
	list, err := choose(benches(), "sync/pods/list,retained")
	if err != nil {
		t.Fatal(err)
	}
	if err := (options{runs: 1, only: list}).print(&out, small); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		for _, m := range b.measures {
			if !strings.Contains(out.String(), "\n  "+m.name+" ") {
				t.Errorf("no line for %q in:\n%s", m.name, &out)
			}
		}
	}
}

func TestRunRefusesWrongArguments(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--only sink", `no benchmark "sink"`},
		{"--side ours", `"ours" takes no part`},
		{"-n 0", "want 1 or more"},
		{"--cpuprofile x", "choose it with --side"},
		{"sync", `unexpected argument "sync"`},
		{"--md --only get", "leave --only and --side out"},
		{"--md", "README.md: no such file"}, // the tests run in a folder below the root
	} {
		err := run(strings.Fields(tc.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.args, err, tc.want)
		}
	}
}

func TestAProcessThatFailsSaysWhy(t *testing.T) {
	_, err := children{}.launch(bench{name: "nonesuch"}, env{side: ours})
	if err == nil || !strings.Contains(err.Error(), "no benchmark nonesuch") {
		t.Errorf("got error %v", err)
	}
}

func TestAProcessEndsWithItsParent(t *testing.T) {
	p, err := start(role{}, 0) // a server, which would run on
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

// The benchmarks of the table, for pprof and benchstat: in this process, with the sizes of the
// table.

func BenchmarkHTTP(b *testing.B)  { benchmark(b, httpBenches()) }
func BenchmarkMicro(b *testing.B) { benchmark(b, microBenches()) }

func benchmark(b *testing.B, list []bench) {
	var s server
	b.Cleanup(s.stop)
	for _, one := range list {
		for _, side := range one.sides() {
			b.Run(one.name+"/"+strings.ReplaceAll(string(side), " ", "-"), func(b *testing.B) { measureIn(b, one, &s, side) })
		}
	}
}

// measureIn reports the medians of b.N runs.
func measureIn(b *testing.B, bn bench, s *server, on side) {
	address := ""
	if bn.world != nil {
		var err error
		if address, err = s.show(bn.world(full)); err != nil {
			b.Fatal(err)
		}
	}
	values := map[string][]float64{}
	_, err := bn.once(env{side: on, sizes: full, server: address}, func(run func() (outcome, error)) (outcome, error) {
		for b.Loop() {
			o, err := run()
			if err != nil {
				return outcome{}, err
			}
			for name, v := range o.Values {
				values[name] = append(values[name], v)
			}
		}
		return outcome{}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range bn.measures {
		if v := values[m.name]; len(v) > 0 {
			b.ReportMetric(sumUp(v).median, strings.ReplaceAll(strings.ReplaceAll(m.name, ",", ""), " ", "-")+m.unit.suffix())
		}
	}
}
