// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestMain(m *testing.M) {
	if harness.PlayRole(benches()) {
		return
	}
	klog.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// Each benchmark runs once on each side as it does for the table: in processes of its own, beside a
// server process.
func TestEveryBenchmarkRunsAndAllSidesSeeTheSame(t *testing.T) {
	var s harness.Server
	defer s.Stop()
	for _, b := range benches() {
		t.Run(b.Name, func(t *testing.T) {
			rows, err := b.RunAll(harness.Children{}.Launch, small, serveFor(t, &s, b), 1, b.Sides())
			if err != nil {
				t.Fatal(err) // also if the sides differ in what they saw
			}
			for _, r := range rows {
				for _, side := range []harness.Side{harness.Ours, r.Theirs()} {
					if v, ok := r.Results[side]; !ok || math.IsNaN(v.Median) || math.IsInf(v.Median, 0) {
						t.Errorf("%s of %s: got %+v, %v", r.Name, side, v, ok)
					}
				}
			}
		})
	}
}

// What runs report as seen must be what there was to see, or comparing the sides would be worth
// nothing.
func TestRunsReportWhatTheySaw(t *testing.T) {
	var s harness.Server
	defer s.Stop()
	for _, b := range httpBenches() {
		w := b.World(small)
		want := harness.Seen{Objects: w.Objects(), Events: w.Objects() + w.Changed + w.Events}
		for _, side := range []harness.Side{harness.Ours, harness.ClientGo} {
			o, err := inProcess(b, harness.Env{Side: side, Sizes: small, Server: serveFor(t, &s, b), Deep: true})
			if err != nil {
				t.Fatalf("%s, %v: %v", b.Name, side, err)
			}
			if got := (harness.Seen{Objects: o.Seen.Objects, Events: o.Seen.Events}); got != want {
				t.Errorf("%s, %v: saw %+v, want %+v", b.Name, side, got, want)
			}
			if o.Seen.Digest == 0 {
				t.Errorf("%s, %v: no digest", b.Name, side)
			}
			known := map[string]bool{}
			for _, m := range b.Measures {
				known[m.Name] = true
			}
			if len(known) != len(b.Measures) {
				t.Errorf("%s: two measures have one name", b.Name)
			}
		}
	}
}

// serveFor returns the address of a server with what b needs.
func serveFor(t testing.TB, s *harness.Server, b harness.Bench) string {
	t.Helper()
	if b.World == nil {
		return ""
	}
	address, err := s.Show(b.World(small))
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// inProcess does one run in this process.
func inProcess(b harness.Bench, e harness.Env) (harness.Outcome, error) {
	return b.Once(e, func(run func() (harness.Outcome, error)) (harness.Outcome, error) { return run() })
}

func TestTheTableHasALineForEachMeasure(t *testing.T) {
	var out bytes.Buffer
	list, err := harness.Choose(benches(), "sync/pods/list,retained")
	if err != nil {
		t.Fatal(err)
	}
	if err := (options{runs: 1, only: list}).print(&out, small); err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		for _, m := range b.Measures {
			if !strings.Contains(out.String(), "\n  "+m.Name+" ") {
				t.Errorf("no line for %q in:\n%s", m.Name, &out)
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
		{"--md --side client-go", "leave --side out"},
		{"--md", "README.md: no such file"}, // the tests run in a folder below the root
	} {
		err := run(strings.Fields(tc.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.args, err, tc.want)
		}
	}
}

// The benchmarks of the table, for pprof and benchstat: in this process, with the sizes of the
// table.

func BenchmarkHTTP(b *testing.B)  { benchmark(b, httpBenches()) }
func BenchmarkMicro(b *testing.B) { benchmark(b, microBenches()) }

func benchmark(b *testing.B, list []harness.Bench) {
	var s harness.Server
	b.Cleanup(s.Stop)
	for _, one := range list {
		for _, side := range one.Sides() {
			b.Run(one.Name+"/"+strings.ReplaceAll(string(side), " ", "-"), func(b *testing.B) { measureIn(b, one, &s, side) })
		}
	}
}

// measureIn reports the medians of b.N runs.
func measureIn(b *testing.B, bn harness.Bench, s *harness.Server, on harness.Side) {
	address := ""
	if bn.World != nil {
		var err error
		if address, err = s.Show(bn.World(full)); err != nil {
			b.Fatal(err)
		}
	}
	values := map[string][]float64{}
	_, err := bn.Once(harness.Env{Side: on, Sizes: full, Server: address}, func(run func() (harness.Outcome, error)) (harness.Outcome, error) {
		for b.Loop() {
			o, err := run()
			if err != nil {
				return harness.Outcome{}, err
			}
			for name, v := range o.Values {
				values[name] = append(values[name], v)
			}
		}
		return harness.Outcome{}, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range bn.Measures {
		if v := values[m.Name]; len(v) > 0 {
			b.ReportMetric(harness.SumUp(v).Median, strings.ReplaceAll(strings.ReplaceAll(m.Name, ",", ""), " ", "-")+m.Unit.Suffix())
		}
	}
}
