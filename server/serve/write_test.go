// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/server/serve"
)

const widgetsInA = "/apis/samples.dev/v1/namespaces/a/widgets"

// describe returns an answer's code and a summary of its body.
func describe(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw := body(t, resp)
	var status metav1.Status
	if err := json.Unmarshal([]byte(raw), &status); err != nil {
		return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(raw))
	}
	switch {
	case status.Kind != "Status":
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s %s@%s generation %d", resp.StatusCode, obj.GetKind(), obj.GetName(), cmp.Or(obj.GetResourceVersion(), "-"), obj.GetGeneration())
	case status.Status == metav1.StatusSuccess:
		return fmt.Sprintf("%d deleted %s %s %s", resp.StatusCode, status.Details.Kind, status.Details.Name, status.Details.UID)
	}
	return fmt.Sprintf("%d %s %q", resp.StatusCode, cmp.Or(string(status.Reason), "-"), status.Message)
}

// widgetJSON returns a widget's JSON. metadata and more have further fields, beginning with a
// comma.
func widgetJSON(name, metadata, more string) string {
	return fmt.Sprintf(`{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"name":%q%s}%s}`, name, metadata, more)
}

// TestWritesAreVisible shows that each write is visible in the next read.
func TestWritesAreVisible(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	uid := func() string {
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON([]byte(body(t, r.get(t, widgetsInA+"/one")))); err != nil {
			t.Fatal(err)
		}
		if created := obj.GetCreationTimestamp(); created.IsZero() {
			t.Error("the object has no creationTimestamp")
		}
		return string(obj.GetUID())
	}
	for i, row := range [][4]string{
		{"POST", "", widgetJSON("one", `,"uid":"mine","generation":7,"deletionTimestamp":"2026-01-01T00:00:00Z"`, `,"spec":{"node":"n1"}`), "201 Widget one@2 generation 1"},
		{"GET", "/one", "", "200 Widget one@2 generation 1"},
		{"PUT", "/one", widgetJSON("one", `,"resourceVersion":"2","labels":{"a":"b"}`, `,"spec":{"node":"n1"}`), "200 Widget one@3 generation 1"},
		{"PUT", "/one", widgetJSON("one", `,"resourceVersion":"3","generation":9,"labels":{"a":"b"}`, `,"spec":{"node":"n2"}`), "200 Widget one@4 generation 2"},
		{"PUT", "/one", widgetJSON("one", `,"resourceVersion":"4","labels":{"a":"b"}`, `,"spec":{"node":"n2"}`), "200 Widget one@4 generation 2"},
		{"PUT", "/one?dryRun=All", widgetJSON("one", `,"resourceVersion":"4"`, ""), "200 Widget one@4 generation 3"},
		{"POST", "?dryRun=All", widgetJSON("dry", "", ""), "201 Widget dry@- generation 1"},
		{"GET", "/one", "", "200 Widget one@4 generation 2"},
		{"DELETE", "/one?dryRun=All", "", "200 deleted widgets one UID"},
		{"DELETE", "/one", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","preconditions":{"resourceVersion":"4","uid":"UID"}}`, "200 deleted widgets one UID"},
		{"GET", "/one", "", `404 NotFound "widgets.samples.dev \"one\" not found"`},
		{"POST", "", widgetJSON("one", "", ""), "201 Widget one@6 generation 1"},
	} {
		id := ""
		if i > 0 && i < 10 {
			id = uid()
		}
		got := describe(t, r.send(t, row[0], widgetsInA+row[1], strings.ReplaceAll(row[2], "UID", id)))
		if want := strings.ReplaceAll(row[3], "UID", id); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", row[0], row[1], got, want)
		}
	}
}

func TestNamesAreGenerated(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	long := strings.Repeat("x", 70)
	for _, base := range []string{"w-", long} {
		got := describe(t, r.send(t, "POST", widgetsInA, `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"generateName":"`+base+`"}}`))
		if want := regexp.MustCompile(`^201 Widget ` + base[:min(len(base), 58)] + `[a-z0-9]{5}@`); !want.MatchString(got) {
			t.Errorf("got %s, want %v", got, want)
		}
	}
}

// deadlineRecorder is a ResponseRecorder with a write deadline.
type deadlineRecorder struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (d *deadlineRecorder) SetWriteDeadline(at time.Time) error {
	d.deadline = at
	return nil
}

// TestUpstreamHasNoWriteDeadline shows that the write deadline of an earlier list on the connection
// doesn't limit the Upstream's answer, such as a Pod's log.
func TestUpstreamHasNoWriteDeadline(t *testing.T) {
	answer := &deadlineRecorder{ResponseRecorder: httptest.NewRecorder()}
	asked := 0
	r := newRig(t, serve.Config{}, true)
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Cache: r.cache, Strict: true,
		Upstream: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked++
			if !answer.deadline.IsZero() {
				t.Errorf("the Upstream was called with the write deadline %v, want none", answer.deadline)
			}
		}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/one/log?follow=true", "/one", ""} {
		answer.deadline = time.Now()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", widgetsInA+path, nil))
	}
	if asked != 3 {
		t.Errorf("the Upstream was called %d times, want 3", asked)
	}
}

// TestUpstreamAnswersWrites shows that the Upstream answers writes, and, with Strict, reads of the
// newest state.
func TestUpstreamAnswersWrites(t *testing.T) {
	t.Parallel() // watches take a second to end
	upstream := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprint(w, "upstream ", req.Method, " ", req.URL.Path)
	})
	r := newRig(t, serve.Config{}, true)
	for _, strict := range []bool{false, true} {
		handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
			GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Cache: r.cache, Upstream: upstream, Strict: strict,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{client: r.client, server: httptest.NewServer(handler)}
		defer r.server.Close()
		for request, isRead := range map[[2]string]bool{
			{"GET", widgetsInA + "/one"}: true, {"GET", widgetsInA}: true, {"GET", widgetsInA + "?resourceVersion=0"}: false, {"GET", widgetsInA + "?limit=1"}: true,
			{"GET", widgetsInA + "/one?resourceVersion=1"}: false, {"GET", widgetsInA + "?watch=true&timeoutSeconds=1"}: false,
		} {
			if got := body(t, r.get(t, request[1])); strings.HasPrefix(got, "upstream") != (isRead && strict) {
				t.Errorf("strict %v: %v: got %s, want the Upstream's answer: %v", strict, request, got, isRead && strict)
			}
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			if got := body(t, r.send(t, method, widgetsInA+"/one", "")); got != "upstream "+method+" "+widgetsInA+"/one" {
				t.Errorf("%s: got %s, want the Upstream's answer", method, got)
			}
		}
		if got := body(t, r.get(t, widgetsInA+"/one/status")); got != "upstream GET "+widgetsInA+"/one/status" {
			t.Errorf("GET of a subresource: got %s, want the Upstream's answer", got)
		}
	}
}
