// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/remote"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	if remote.PlayRole() || harness.PlayRole(benches()) {
		return
	}
	goleak.VerifyTestMain(m)
}

// small is little work.
var small = harness.Sizes{CRs: 200, Watchers: 10, Window: 200 * time.Millisecond}

// Each benchmark runs once on each side as it does for the table: in processes of its own.
func TestEveryBenchmarkRuns(t *testing.T) {
	for _, b := range benches() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel() // times don't matter here
			rows, err := b.RunAll(harness.Children{}.Launch, small, "", 1, b.Sides())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				for _, side := range b.Sides() {
					v, ok := r.Results[side]
					if !ok && side == local.Cacher && slices.Contains([]string{tail, tailBeside, tailRatio}, r.Name) {
						continue // on a busy machine it may have ended all of its watchers
					}
					if !ok || math.IsNaN(v.Median) || math.IsInf(v.Median, 0) {
						t.Errorf("%s of %s: got %+v, %v", r.Name, side, v, ok)
					}
					if r.Name == endedThough && side == harness.Ours && v.Median != 0 {
						t.Errorf("%v watches were ended", v.Median)
					}
				}
			}
		})
	}
}

func TestMeasuresHaveNames(t *testing.T) {
	for _, b := range benches() {
		known := map[string]bool{}
		for _, m := range b.Measures {
			known[m.Name] = true
		}
		if len(known) != len(b.Measures) {
			t.Errorf("%s: two measures have one name", b.Name)
		}
	}
}

func TestRunRefusesWrongArguments(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"--only sink", `no benchmark "sink"`},
		{"--side client-go", `"client-go" takes no part`},
		{"--only heap --side devserver", `"devserver" takes no part`},
		{"-n 0", "want 1 or more"},
		{"--load 0s", "want a positive time"},
		{"--cpuprofile x", "choose it with --side"},
		{"slow", `unexpected argument "slow"`},
		{"--md --only heap", "leave --only and --side out"},
		{"--md", "docs/watchcache.md: no such file"}, // the tests run in a folder below the root
	} {
		err := run(strings.Fields(tc.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.args, err, tc.want)
		}
	}
}

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-n 3 --load 2s --only http --side devserver"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := harness.Sizes{CRs: 10_000, Watchers: 1000, Window: 2 * time.Second}
	if o.runs != 3 || o.side != remote.Devserver || o.sizes != want || len(o.only) != 3 {
		t.Errorf("got %+v", o)
	}
}

// The table goes between the markers of the page, and shows what the marks are.
func TestTheTableGoesIntoThePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	content, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := parse(strings.Fields("-n 1 --only heap"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o.sizes = small
	if o.page, err = report.OpenPage(path); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := o.print(&printed); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{printed.String(), string(written)} {
		for _, want := range []string{"200 custom resources, beside the cacher (heap)", overJSON, against, "≤ 0.4"} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in:\n%s", want, text)
			}
		}
	}
	before, _, _ := strings.Cut(string(content), "<!-- bench -->")
	if !strings.HasPrefix(string(written), before) {
		t.Error("the page has changed before the table")
	}
}
