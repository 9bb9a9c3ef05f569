// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// seriesOf returns the names of all series, also those of histograms, and their labels.
func seriesOf(t *testing.T) map[string][]string {
	t.Helper()
	p, registry := newProvider(), prom.NewPedanticRegistry()
	p.requests = requestCollectors()
	registry.MustRegister(p)
	now := time.Now()
	i := &fake{state: metrics.InformerState{
		ResourceVersion: "1", LastEvent: now, LastBookmark: now, Checkpoint: metrics.CheckpointState{Kept: true, Saved: now},
	}}
	run := p.BeginInformer("widgets", i.read)
	defer run.Close()
	run.ListDone(time.Second, 1)
	run.WatchDone(time.Second, 1)
	run.BatchDone(time.Second, 1)
	run.Failed("forbidden")
	h := run.BeginHandler("queue", i.readHandler)
	defer h.Close()
	h.CallbackDone(time.Second, true)
	p.BeginQueue("widgets", fixed(metrics.QueueState{}))
	p.BeginController("widgets", func() metrics.ControllerState { return metrics.ControllerState{} })
	p.BeginElection("widgets", func() bool { return true })
	p.BeginRing("widgets", func() metrics.RingState { return metrics.RingState{} })
	requestCounter{}.Increment(t.Context(), "200", "GET", "api")
	requestCounter{}.IncrementRetry(t.Context(), "429", "GET", "api")
	requestTimer{latency}.Observe(t.Context(), "GET", url.URL{}, time.Second)
	requestTimer{limiter}.Observe(t.Context(), "GET", url.URL{}, time.Second)
	lint(t, registry)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := map[string][]string{}
	for _, family := range families {
		var labels []string
		for _, pair := range family.GetMetric()[0].GetLabel() {
			labels = append(labels, pair.GetName())
		}
		if family.GetMetric()[0].GetHistogram() == nil {
			series[family.GetName()] = labels
			continue
		}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			series[family.GetName()+suffix] = labels
		}
		series[family.GetName()+"_bucket"] = append(slices.Clone(labels), "le")
	}
	return series
}

const monitoring = "../../../docs/monitoring"

// alert is one rule of alerts.yaml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alertsOf(t *testing.T) (alerts []alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	if err := yaml.UnmarshalStrict(contentOf(t, "alerts.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		alerts = append(alerts, group.Rules...)
	}
	return alerts
}

func contentOf(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(filepath.FromSlash(monitoring), name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// dashboard has the checked parts of dashboard.json.
type dashboard struct {
	Panels []struct {
		ID          int
		Title, Type string
		GridPos     struct{ H, W, X, Y int }
		Targets     []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct {
			Name, Definition string
			Query            any
		}
	}
}

// TestMonitoringUsesExistingMetrics: each name and label of the alert rules and of the dashboard
// exists, and they use every metric.
func TestMonitoringUsesExistingMetrics(t *testing.T) {
	series := seriesOf(t)
	shown := map[string]bool{}
	check := func(where, expr string) (labels []string) {
		t.Helper()
		names, labels, problem := parse(expr)
		if problem != "" {
			t.Errorf("%s: %s in %s", where, problem, expr)
		}
		known := []string{"instance", "job", "namespace", "pod"} // Prometheus adds these
		for _, name := range names {
			if series[name] == nil {
				t.Errorf("%s: there is no metric %s", where, name)
			}
			shown[strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")] = true
			known = append(known, series[name]...)
		}
		for _, label := range labels {
			if !slices.Contains(known, label) {
				t.Errorf("%s: no metric of %s has the label %s", where, expr, label)
			}
		}
		if len(names) == 0 {
			t.Errorf("%s: %s has no metric", where, expr)
		}
		return known
	}
	labelInText := regexp.MustCompile(`\$labels\.(\w+)|\{\{(\w+)\}\}`)
	checkText := func(where, text string, known []string) {
		t.Helper()
		for _, m := range labelInText.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]+m[2]) {
				t.Errorf("%s: no metric has the label %s", where, m[1]+m[2])
			}
		}
	}

	alerts := alertsOf(t)
	for _, a := range alerts {
		known := check(a.Alert, a.Expr)
		checkText(a.Alert, a.Annotations["summary"]+a.Annotations["description"], known)
		if a.Labels["severity"] == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity, a summary or a description", a.Alert)
		}
		if a.For != "" {
			if _, err := time.ParseDuration(a.For); err != nil {
				t.Errorf("%s: %v", a.Alert, err)
			}
		}
	}
	var board dashboard
	if err := json.Unmarshal(contentOf(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q has the id %d of another one, or is too wide", p.Title, p.ID)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			checkText(p.Title, target.LegendFormat, check(p.Title, target.Expr))
		}
		if len(p.Targets) == 0 && p.Type != "row" {
			t.Errorf("panel %q has no query", p.Title)
		}
	}
	for _, variable := range board.Templating.List {
		if m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(variable.Definition); m != nil {
			check(variable.Name, m[1]+`{`+m[2]+`=""}`)
		} else if variable.Definition != "" {
			t.Errorf("variable %s is defined by %s", variable.Name, variable.Definition)
		}
	}
	if len(alerts) < 5 || len(board.Panels) < 10 {
		t.Errorf("%d alerts and %d panels, want at least 5 and 10", len(alerts), len(board.Panels))
	}
	for name := range series {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if !shown[name] {
			t.Errorf("no alert and no panel uses %s", name)
		}
	}
}

// TestEveryAlertIsDocumented: docs/operations.md has a row for each alert.
func TestEveryAlertIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../../docs/operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alertsOf(t) {
		if !strings.Contains(string(page), "| `"+a.Alert+"` |") {
			t.Errorf("docs/operations.md has no row for %s", a.Alert)
		}
	}
}

var (
	aString   = regexp.MustCompile(`"[^"]*"`)
	aDuration = regexp.MustCompile(`\[(\$__rate_interval|\d+[smhd])\]`)
	matchers  = regexp.MustCompile(`\{([^}]*)\}`)
	aMatcher  = regexp.MustCompile(`^\s*(\w+)\s*(?:=|!=|=~|!~)\s*"[^"]*"\s*$`)
	grouping  = regexp.MustCompile(`\b(?:by|on|without|ignoring)\s*\(([^)]*)\)`)
	aName     = regexp.MustCompile(`[a-zA-Z_:][\w:]*`)
)

// notMetrics are the functions and operators in expressions.
var notMetrics = []string{"and", "bool", "count", "histogram_quantile", "increase", "max", "max_over_time", "min", "or", "rate", "sum", "time", "unless", "vector"}

// parse returns the metrics and labels in a PromQL expression. It supports only the syntax used in
// the files.
func parse(expr string) (names, labels []string, problem string) {
	rest := matchers.ReplaceAllStringFunc(expr, func(m string) string {
		for one := range strings.SplitSeq(strings.Trim(m, "{}"), ",") {
			found := aMatcher.FindStringSubmatch(one)
			if found == nil {
				problem = "an invalid matcher: " + one
				return ""
			}
			labels = append(labels, found[1])
		}
		return ""
	})
	rest = aDuration.ReplaceAllString(aString.ReplaceAllString(rest, ""), "")
	rest = grouping.ReplaceAllStringFunc(rest, func(g string) string {
		for label := range strings.SplitSeq(grouping.FindStringSubmatch(g)[1], ",") {
			labels = append(labels, strings.TrimSpace(label))
		}
		return ""
	})
	for _, name := range aName.FindAllString(rest, -1) {
		if !slices.Contains(notMetrics, name) {
			names = append(names, name)
		}
	}
	if strings.Count(rest, "(") != strings.Count(rest, ")") || strings.ContainsAny(rest, "{}[]$\"") {
		problem = "unbalanced brackets or an invalid range"
	}
	return names, labels, problem
}
