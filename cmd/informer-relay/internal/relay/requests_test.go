// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// TestRequestsAreCounted sends requests of all kinds, and compares the metrics. Callers can't add
// labels.
func TestRequestsAreCounted(t *testing.T) {
	s := newAPIServer(t, "ann list pods in shop", "ann watch pods in", "ann list secrets in", "ann get /api")
	r := s.start(t, configOf(t, tokens))
	r.await(t)
	c := client(t)
	get(t, c, r.url+"/api/v1/namespaces/shop/pods", "ann")
	get(t, c, r.url+"/api/v1/namespaces/shop/pods?limit=2", "ann")
	get(t, c, r.url+"/api/v1/namespaces/other/pods", "ann")
	get(t, c, r.url+"/api/v1/namespaces/shop/pods/web", "")
	get(t, c, r.url+"/api/v1/secrets", "ann")
	get(t, c, r.url+"/apis/made/up/things", "stranger")
	get(t, c, r.url+"/api", "ann")
	send(t, c, "INVENT", r.url+"/made/up", "ann").Body.Close()
	get(t, c, r.url+"/healthz", "")
	watch := open(t, c, r.url+"/api/v1/pods?watch=true", "ann") // counted while it is open
	defer watch.Body.Close()

	pods := func(verb, code string) string {
		return `informer_relay_request_total{code="` + code + `",group="",resource="pods",verb="` + verb + `",version="v1"}`
	}
	none := func(verb, code string) string {
		return `informer_relay_request_total{code="` + code + `",group="",resource="",verb="` + verb + `",version=""}`
	}
	for series, want := range map[string]float64{
		pods("list", "200"):  2,
		pods("list", "403"):  1,
		pods("get", "401"):   1,
		pods("watch", "200"): 1,
		none("list", "404"):  1, // secrets aren't served
		none("list", "401"):  1,
		none("get", "200"):   1,
		none("other", "403"): 1,
		`informer_relay_request_duration_seconds_count{group="",resource="pods",verb="list",version="v1"}`: 3,
	} {
		if got := metric(t, r, series); got != want {
			t.Errorf("the series %s is %v, want %v", series, got, want)
		}
	}
}

// TestObservedWriterReportsFirstCode observes handlers that answer in different ways.
func TestObservedWriterReportsFirstCode(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    int
	}{
		"nothing is written":     {func(http.ResponseWriter, *http.Request) {}, 200},
		"a body without a code":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a")) }, 200},
		"a code":                 {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); _, _ = w.Write([]byte("a")) }, 404},
		"hints before the code":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(503) }, 503},
		"a flush before a panic": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); panic(http.ErrAbortHandler) }, 200},
	} {
		t.Run(name, func(t *testing.T) {
			requests := newRequests(nil)
			func() {
				defer func() { _ = recover() }()
				requests.observe(test.handler).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
			}()
			exporter, err := newExporter(requests)
			if err != nil {
				t.Fatal(err)
			}
			series := `informer_relay_request_total{code="` + strconv.Itoa(test.want) + `",group="",resource="",verb="get",version=""}`
			if got := sample(t, exporter, series); got != 1 {
				t.Errorf("the series %s is %v, want 1", series, got)
			}
		})
	}
}

// metric returns the value of a series in a relay's metrics, or 0 if it is missing.
func metric(t *testing.T, r *runningRelay, series string) float64 {
	t.Helper()
	return sample(t, r.metrics, series)
}

func sample(t *testing.T, metrics http.Handler, series string) float64 {
	t.Helper()
	recorder := httptest.NewRecorder()
	metrics.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(recorder.Body.String()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
