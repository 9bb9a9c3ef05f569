// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	goleak.VerifyTestMain(m)
}

// small makes every benchmark run within a moment. Nothing is said about the figures.
var small = sizes{pods: 120, objects: 300, events: 150, updates: 3000, idle: 3, window: 5 * time.Millisecond, deep: true}

func TestEveryBenchmarkRunsAndBothSidesSeeTheSame(t *testing.T) {
	for _, b := range benches {
		t.Run(b.name, func(t *testing.T) {
			rows, err := b.runAll(small, 1, sides) // fails when the sides differ in what they saw
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != len(b.measures) {
				t.Fatalf("got %d rows for %d measures", len(rows), len(b.measures))
			}
			for _, r := range rows {
				for _, s := range sides {
					if v := r.values[s]; math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s of %v is %v", r.name, s, v)
					}
				}
			}
		})
	}
}

// What the runs report as seen must be what there was to see, or the comparison of the sides would be worth nothing.
func TestRunsReportWhatTheySaw(t *testing.T) {
	want := map[string]seen{
		"sync":      {objects: 120, events: 120},
		"sync-list": {objects: 120, events: 120},
		"event":     {objects: 300, events: 150},
		"event-10":  {objects: 300, events: 1500},
		"burst":     {objects: 300, events: 150},
		"burst-10":  {objects: 300, events: 1500},
		"store":     {objects: 10 * 300, events: 10 * 300},
		"readers":   {objects: 60},
		"stall":     {objects: stalledKeys},
		"late":      {objects: 300, events: 300},
		"idle":      {objects: 3},
	}
	for _, b := range benches {
		run, done, err := b.prepare(small)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sides {
			o, err := run(s)
			if err != nil {
				t.Fatalf("%s, %v: %v", b.name, s, err)
			}
			if got := (seen{objects: o.seen.objects, events: o.seen.events}); got != want[b.name] {
				t.Errorf("%s, %v: saw %+v, want %+v", b.name, s, got, want[b.name])
			}
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
}

func TestRunAllFailsWhenTheSidesSeeDifferentThings(t *testing.T) {
	b := bench{
		name: "lopsided", measures: []measure{{name: "x"}},
		prepare: func(sizes) (func(side) (outcome, error), func() error, error) {
			return func(s side) (outcome, error) {
				return outcome{values: []float64{1}, seen: seen{objects: int(s)}}, nil
			}, nothing, nil
		},
	}
	_, err := b.runAll(small, 1, sides)
	if err == nil || !strings.Contains(err.Error(), "did not see the same") {
		t.Errorf("got error %v", err)
	}
}

func TestRunAllShowsTheMedianWithoutTheFirstRun(t *testing.T) {
	calls := map[side]int{}
	b := bench{
		name: "counting", measures: []measure{{name: "x"}},
		prepare: func(sizes) (func(side) (outcome, error), func() error, error) {
			return func(s side) (outcome, error) {
				calls[s]++
				return outcome{values: []float64{[]float64{1000, 7, 1, 4}[calls[s]-1] * float64(1+s)}}, nil
			}, nothing, nil
		},
	}
	rows, err := b.runAll(small, 3, sides)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rows[0].values, [2]float64{4, 8}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFullPodsAreRealisticAndRepeatable(t *testing.T) {
	const n = 200
	total := 0
	names := map[string]bool{}
	for i := range n {
		pod, err := json.Marshal(fullPod(i))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(fullPod(i))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(pod, again) {
			t.Fatalf("Pod %d differs from itself", i)
		}
		total += len(pod)
		names[fullPod(i).Namespace+"/"+fullPod(i).Name] = true
	}
	if mean := total / n; mean < 3900 || mean > 4500 {
		t.Errorf("a Pod has %d bytes of JSON, want about 4 KB", mean)
	}
	if len(names) != n {
		t.Errorf("%d Pods have %d names", n, len(names))
	}
}

func TestPodServerPagesAsAnAPIServerDoes(t *testing.T) {
	s, err := newPodServer(10)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, tc := range []struct {
		query string
		want  []int // sizes of the pages
	}{
		{"limit=4", []int{4, 4, 2}},
		{"limit=10", []int{10}},
		{"", []int{10}},
		{"limit=4&resourceVersion=0", []int{10}},
	} {
		next := ""
		for page, want := range tc.want {
			var list corev1.PodList
			get(t, s, tc.query+"&continue="+next, http.StatusOK, &list)
			if len(list.Items) != want {
				t.Errorf("%q, page %d has %d Pods, want %d", tc.query, page, len(list.Items), want)
			}
			next = list.Continue
		}
		if next != "" {
			t.Errorf("%q: the last page has the continue token %q", tc.query, next)
		}
	}
	get(t, s, "watch=true&resourceVersion=3", http.StatusGone, nil)
	get(t, s, "watch=true&sendInitialEvents=true", http.StatusUnprocessableEntity, nil)
	get(t, s, "limit=some", http.StatusBadRequest, nil)
}

func get(t *testing.T, s *podServer, query string, code int, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://pods.invalid/api/v1/pods?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := (&http.Client{Transport: s}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != code {
		t.Fatalf("%q: status %d, want %d: %s", query, resp.StatusCode, code, data)
	}
	if into != nil {
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunPrintsALineForEachMeasure(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"--objects", "100", "--runs", "1", "--only", "event,stall"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		if b.name != "event" && b.name != "stall" {
			continue
		}
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
		{"--side ours", "neither informer-gen nor client-go"},
		{"--objects 1", "want 100 or more"},
		{"--runs 0", "want 1 or more"},
		{"sync", `unexpected argument "sync"`},
	} {
		err := run(strings.Fields(tc.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one that contains %q", tc.args, err, tc.want)
		}
	}
}
