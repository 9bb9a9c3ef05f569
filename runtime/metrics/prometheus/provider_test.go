// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// TestEveryMetric runs in a bubble, where time stands still between two sleeps, so ages are exact.
func TestEveryMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := registered(t)
		i := &fake{}
		run := p.BeginInformer("widgets.samples.io/v1", i.read)
		h := run.BeginHandler("queue", i.readHandler)

		start := time.Now() // midnight UTC 2000-01-01
		i.set(func(s *metrics.InformerState, h *metrics.HandlerState) {
			*s = metrics.InformerState{
				Objects: 12, Synced: true, Watching: true, Failures: 2, Queued: 3, ResourceVersion: "4711",
				LastEvent: start, LastBookmark: start.Add(500 * time.Millisecond),
				Events: metrics.EventTotals{Added: 1, Modified: 20, Deleted: 3, Bookmark: 4},
				Listed: 14, Relists: 5, BadData: 6,
			}
			*h = metrics.HandlerState{Synced: true, Backlog: 7, Merging: true, WaitingSince: start, CallbackSince: start.Add(time.Second)}
		})
		run.ListDone(2*time.Second, 14)
		run.WatchDone(7*time.Minute, 28)
		run.BatchDone(2*time.Millisecond, 50)
		run.Failed("not found")
		run.Failed("not found")
		run.Failed("unreachable")
		h.CallbackDone(20*time.Microsecond, false)
		h.CallbackDone(20*time.Millisecond, true)
		time.Sleep(3 * time.Second)

		golden(t, registry, "testdata/every.prom")
		h.Close()
		run.Close()
	})
}

// TestDocumentation compares the tables in the package's documentation with the results of
// Describe.
func TestDocumentation(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(prom.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"informer", "workqueue", "controller", "leader_election", "rest_client", "watchcache"} {
		var documented, described []string
		for _, row := range regexp.MustCompile(`(?m)^//\t(`+prefix+`_\w+) *\|`).FindAllStringSubmatch(string(doc), -1) {
			documented = append(documented, row[1])
		}
		ch := make(chan *prom.Desc)
		go func() {
			p.Describe(ch)
			close(ch)
		}()
		for desc := range ch {
			if name := regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(desc.String())[1]; strings.HasPrefix(name, prefix+"_") {
				described = append(described, name)
			}
		}
		if len(described) == 0 {
			t.Errorf("no metric begins with %s", prefix)
		}
		slices.Sort(documented)
		slices.Sort(described)
		if !slices.Equal(documented, described) {
			t.Errorf("doc.go has\n%s\nDescribe has\n%s", strings.Join(documented, "\n"), strings.Join(described, "\n"))
		}
	}
}

// TestRegistration: a provider can be registered once, or more often with a prefix or a label.
func TestRegistration(t *testing.T) {
	for name, construct := range map[string]func(prom.Registerer) (prom.Collector, error){
		"all":       func(r prom.Registerer) (prom.Collector, error) { return New(r) },
		"informers": func(r prom.Registerer) (prom.Collector, error) { return NewInformers(r) },
	} {
		all := prom.NewRegistry()
		c, err := construct(all)
		if err != nil {
			t.Fatal(name, err)
		}
		var twice prom.AlreadyRegisteredError
		if _, err := construct(all); !errors.As(err, &twice) {
			t.Errorf("%s: got %v, want an AlreadyRegisteredError", name, err)
		}
		if _, err := construct(prom.WrapRegistererWithPrefix("other_", all)); err != nil {
			t.Errorf("%s with a prefix: %v", name, err)
		}
		if _, err := construct(prom.WrapRegistererWith(prom.Labels{"cluster": "west"}, prom.NewRegistry())); err != nil {
			t.Errorf("%s with a label: %v", name, err)
		}
		if !all.Unregister(c) {
			t.Errorf("%s: Unregister() = false", name)
		}
		again, err := construct(all)
		if err != nil {
			t.Fatalf("%s after Unregister: %v", name, err)
		}
		if _, err := construct(nil); err == nil {
			t.Errorf("%s: a nil registerer has no error", name)
		}
		if !all.Unregister(again) {
			t.Errorf("%s: Unregister() = false the second time", name)
		}
	}
}

// TestRegistryOfControllerRuntime has a metric of New with controller-runtime's help.
func TestRegistryOfControllerRuntime(t *testing.T) {
	registry := prom.NewRegistry()
	registry.MustRegister(counters("rest_client_requests_total", "Number of HTTP requests.", "code", "method", "host"))
	if _, err := New(registry); err == nil || !strings.Contains(err.Error(), "NewInformers is for a registry") {
		t.Errorf("New returned %v, want an error that names NewInformers", err)
	}
	if _, err := NewInformers(registry); err != nil {
		t.Error(err)
	}
}

// TestServeHTTP answers with the metrics of a registry, and says why it can't.
func TestServeHTTP(t *testing.T) {
	registry := prom.NewRegistry()
	wrapped, err := New(prom.WrapRegistererWithPrefix("other_", registry))
	if err != nil {
		t.Fatal(err)
	}
	direct, err := New(registry)
	if err != nil {
		t.Fatal(err)
	}
	direct.BeginElection("maps", func() bool { return true })
	for p, want := range map[*Provider]string{
		direct: `leader_election_master_status{name="maps"} 1`, wrapped: "serve promhttp.HandlerFor(its registry) instead",
	} {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if ok := w.Code == 200; ok != (p == direct) || !strings.Contains(w.Body.String(), want) {
			t.Errorf("got %d %s\nwant %s", w.Code, w.Body, want)
		}
	}
}

func TestSeriesOfSeveralRuns(t *testing.T) {
	p, registry := registered(t)
	i := &fake{}
	for round, want := range []float64{10, 20, 30} {
		run := p.BeginInformer("widgets", i.read)
		h := run.BeginHandler("queue", i.readHandler)
		i.set(func(s *metrics.InformerState, _ *metrics.HandlerState) { s.Events.Added += 10 })
		run.Failed("forbidden")
		run.ListDone(time.Second, 10)
		h.CallbackDone(time.Second, true)

		wantSamples(t, registry, map[string]float64{
			"informer_events_total{widgets,added}":                      want,
			"informer_failures_total{widgets,forbidden}":                float64(round + 1),
			"informer_list_duration_seconds{widgets}":                   float64(round + 1),
			"informer_handler_panics_total{queue,widgets}":              float64(round + 1),
			"informer_handler_callback_duration_seconds{queue,widgets}": float64(round + 1),
		})
		h.Close()
		for sample := range gather(t, registry) {
			if strings.Contains(sample, "handler") && !outlivesRun(sample) {
				t.Errorf("round %d: the closed handler has the series %s", round, sample)
			}
		}
		run.Close()
		for sample := range gather(t, registry) {
			if !outlivesRun(sample) {
				t.Errorf("round %d: the ended run has the series %s", round, sample)
			}
		}
	}
}

func TestInformersOfOneNameShareSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, registry := registered(t)
		now := time.Now()
		a := &fake{
			state: metrics.InformerState{
				Objects: 1, Synced: true, Watching: true, Failures: 3, Queued: 1, ResourceVersion: "100",
				LastEvent: now, LastBookmark: now, Listed: 7,
			},
			handler: metrics.HandlerState{Synced: true, Backlog: 1, WaitingSince: now},
		}
		b := &fake{
			state: metrics.InformerState{
				Objects: 2, Watching: true, Queued: 1, ResourceVersion: "99", LastEvent: now.Add(-time.Second),
			},
			handler: metrics.HandlerState{Synced: true, Backlog: 2, Merging: true, CallbackSince: now},
		}
		time.Sleep(2 * time.Second)
		// a has listed 7 objects in an earlier run, without the Provider
		runA := p.BeginInformer("widgets", a.read)
		runB := p.BeginInformer("widgets", b.read)
		handlerA, handlerB := runA.BeginHandler("queue", a.readHandler), runB.BeginHandler("queue", b.readHandler)
		check := func(want map[string]float64) {
			t.Helper()
			wantSamples(t, registry, want)
		}
		check(map[string]float64{
			"informer_objects{widgets}":                         3,
			"informer_synced{widgets}":                          0,
			"informer_watching{widgets}":                        1,
			"informer_consecutive_failures{widgets}":            3,
			"informer_queued_events{widgets}":                   2,
			"informer_resource_version{widgets}":                99,
			"informer_last_event_timestamp_seconds{widgets}":    float64(now.Unix() - 1),
			"informer_last_bookmark_timestamp_seconds{widgets}": float64(now.Unix()), // of a
			"informer_handler_synced{queue,widgets}":            1,
			"informer_handler_backlog_events{queue,widgets}":    3,
			"informer_handler_merging{queue,widgets}":           1,
			"informer_handler_lag_seconds{queue,widgets}":       2,
			"informer_handler_running_seconds{queue,widgets}":   2,
		})

		// Totals are sums, and outlive an informer's run.
		list := func(i *fake, objects int64) {
			i.set(func(s *metrics.InformerState, _ *metrics.HandlerState) { s.Listed += objects })
		}
		listed := "informer_listed_objects_total{widgets}"
		list(a, 5)
		list(b, 20)
		check(map[string]float64{listed: 25})
		handlerA.Close()
		runA.Close()
		check(map[string]float64{listed: 25, "informer_objects{widgets}": 2})
		runA = p.BeginInformer("widgets", a.read)
		list(a, 1)
		check(map[string]float64{listed: 26})
		handlerB.Close()
		runB.Close()
		runA.Close()
		runB = p.BeginInformer("widgets", b.read)
		check(map[string]float64{listed: 26})
		runB.Close()
	})
}

func TestNonNumericVersionsHaveNoSeries(t *testing.T) {
	p, registry := registered(t)
	for version, want := range map[string]bool{
		"": false, "abc": false, "-1": false, "9007199254740992": false, "9007199254740991": true, "1": true,
	} {
		i := &fake{state: metrics.InformerState{ResourceVersion: version}}
		run := p.BeginInformer("widgets", i.read)
		if _, got := gather(t, registry)["informer_resource_version{widgets}"]; got != want {
			t.Errorf("version %q has a series: %v, want %v", version, got, want)
		}
		run.Close()
	}
}

func TestInvalidUTF8InNames(t *testing.T) {
	p, registry := registered(t)
	i := &fake{}
	run := p.BeginInformer("a\xff", i.read)
	run.BeginHandler("b\xff", i.readHandler)
	run.Failed("c\xff d")
	samples := gather(t, registry)
	for _, sample := range []string{"informer_failures_total{a\uFFFD,c\uFFFD_d}", "informer_handler_merging{b\uFFFD,a\uFFFD}"} {
		if _, ok := samples[sample]; !ok {
			t.Errorf("%s is missing", sample)
		}
	}
}

// TestConcurrentScrapes: informers call recorders under the lock of their state.
func TestConcurrentScrapes(t *testing.T) {
	p, registry := registered(t)
	stop := make(chan struct{})
	var scrapes sync.WaitGroup
	for range 2 {
		scrapes.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					gather(t, registry)
				}
			}
		})
	}
	var informers sync.WaitGroup
	for _, name := range []string{"a", "a", "b"} {
		informers.Go(func() {
			i := &fake{}
			for range 200 {
				run := p.BeginInformer(name, i.read)
				i.mu.Lock()
				i.state.Events.Added++
				run.Failed("silent")
				h := run.BeginHandler("queue", i.readHandler)
				run.BatchDone(time.Millisecond, 1)
				h.CallbackDone(time.Millisecond, true)
				h.Close()
				i.mu.Unlock()
				run.Close()
			}
		})
	}
	informers.Wait()
	close(stop)
	scrapes.Wait()

	i := &fake{}
	defer p.BeginInformer("a", i.read).Close()
	if got := gather(t, registry)["informer_events_total{a,added}"]; got != 400 {
		t.Errorf("informer_events_total = %v, want 400", got)
	}
}

func TestEventsDoNotAllocate(t *testing.T) {
	p, _ := registered(t)
	i := &fake{}
	run := p.BeginInformer("widgets", i.read)
	h := run.BeginHandler("queue", i.readHandler)
	run.Failed("silent")
	allocs := testing.AllocsPerRun(100, func() {
		run.ListDone(time.Second, 1)
		run.WatchDone(time.Second, 1)
		run.BatchDone(time.Millisecond, 1)
		run.Failed("silent")
		h.CallbackDone(time.Millisecond, false)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

// outlivesRun reports whether a sample's series outlives its informer's run.
func outlivesRun(sample string) bool {
	return strings.Contains(sample, "_duration_seconds{") || strings.Contains(sample, "_batch_changes{") ||
		strings.Contains(sample, "_failures_total{") || strings.Contains(sample, "_panics_total{")
}

// gather returns the value of each sample, or the count of a histogram, by name{label values}.
func gather(t testing.TB, g prom.Gatherer) map[string]float64 {
	families, err := g.Gather()
	if err != nil {
		t.Error(err)
	}
	samples := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, pair := range m.GetLabel() {
				labels = append(labels, pair.GetValue())
			}
			value := m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			samples[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return samples
}
