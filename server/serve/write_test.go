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
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informer-gen/informer-gen/server/serve"
)

const inA = "/apis/samples.dev/v1/namespaces/a/widgets"

// describe returns the code of an answer, and what its body has in few words.
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

// written returns a widget as clients send it. more is further fields, which begin with a comma.
func written(name, metadata, more string) string {
	return fmt.Sprintf(`{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"name":%q%s}%s}`, name, metadata, more)
}

// TestWritesAreRefused compares the refusals with those of an API server of Kubernetes 1.37.
func TestWritesAreRefused(t *testing.T) {
	r := newRig(t, serve.Config{MaxBody: 1 << 20}, true)
	r.create(t, "a", "one", "") // 2, uid-2
	// Older versions of apimachinery write the value in another way.
	dryRun := strings.ReplaceAll(validation.ValidateDryRun(field.NewPath("dryRun"), []string{"Some"}).ToAggregate().Error(), `"`, `\"`)
	for _, row := range [][4]string{
		{"POST", "", written("one", "", ""), `409 AlreadyExists "widgets.samples.dev \"one\" already exists"`},
		{"POST", "?dryRun=All", written("one", "", ""), `409 AlreadyExists "widgets.samples.dev \"one\" already exists"`},
		{"POST", "", written("x", `,"namespace":"b"`, ""), `400 BadRequest "the namespace of the provided object does not match the namespace sent on the request"`},
		{"POST", "", written("", "", ""), `422 Invalid "Widget.samples.dev \"\" is invalid: metadata.name: Required value: name or generateName is required"`},
		{"POST", "", written("x", `,"resourceVersion":"5"`, ""), `500 - "resourceVersion should not be set on objects to be created"`},
		{"POST", "", written("x", `,"labels":{"a b":"c"}`, ""), `422 Invalid "Widget.samples.dev \"x\" is invalid: metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"`},
		{"POST", "", `{"apiVersion":`, `400 BadRequest "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input ({\"apiVersion\":)"`},
		{"POST", "", "", `400 BadRequest "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"`},
		{"POST", "", "?", `400 BadRequest "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: invalid character '?' looking for beginning of value (3f)"`},
		{"POST", "", written("x", `,"labels":{"app":7}`, ""), `400 BadRequest "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"`},
		{"POST", "", `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":"x"}`, `400 BadRequest "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal string into Go value of type v1.ObjectMeta"`},
		{"PUT", "/one", `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{}}`, `400 BadRequest "the name of the object (one based on URL) was undeterminable: name must be provided"`},
		{"POST", "", strings.ReplaceAll(written("q", "", ""), "Widget", "Other"), `422 Invalid "Other.samples.dev \"q\" is invalid: kind: Invalid value: \"Other\": must be Widget"`},
		{"POST", "", strings.ReplaceAll(written("q", "", ""), "samples.dev/v1", "samples.dev/v2"), `400 BadRequest "the API version in the data (samples.dev/v2) does not match the expected API version (samples.dev/v1)"`},
		{"POST", "", written("x", "", `,"spec":"`+strings.Repeat("x", 1<<20)+`"`), `413 RequestEntityTooLarge "Request entity too large: limit is 1048576"`},
		{"POST", "?fieldValidation=Strict", written("x", "", `,"x":1,"x":2`), `400 BadRequest "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: duplicate field \"x\""`},
		{"POST", "?fieldValidation=Never", written("x", "", ""), `422 Invalid "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Never\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""`},
		{"POST", "?dryRun=Some", written("x", "", ""), `422 Invalid "CreateOptions.meta.k8s.io \"\" is invalid: ` + dryRun + `"`},
		{"POST", "/one", written("x", "", ""), `405 MethodNotAllowed "create is not supported on resources of kind \"widgets.samples.dev\""`},
		{"PUT", "/one", written("one", `,"resourceVersion":"1"`, ""), `409 Conflict "Operation cannot be fulfilled on widgets.samples.dev \"one\": the object has been modified; please apply your changes to the latest version and try again"`},
		{"PUT", "/one", written("one", "", ""), `422 Invalid "widgets.samples.dev \"one\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"`},
		{"PUT", "/one", written("one", `,"resourceVersion":"2","uid":"other"`, ""), `409 Conflict "Operation cannot be fulfilled on widgets.samples.dev \"one\": precondition failed: UID in precondition: other, UID in object meta: uid-2"`},
		{"PUT", "/one", written("one", `,"resourceVersion":"two"`, ""), `400 BadRequest "resourceVersion: Invalid value: \"two\": strconv.ParseUint: parsing \"two\": invalid syntax"`},
		{"PUT", "/one", written("other", `,"resourceVersion":"2"`, ""), `400 BadRequest "the name of the object (other) does not match the name on the URL (one)"`},
		{"PUT", "/none", written("none", `,"resourceVersion":"2"`, ""), `404 NotFound "widgets.samples.dev \"none\" not found"`},
		{"PUT", "/one?dryRun=Some", written("one", `,"resourceVersion":"2"`, ""), `422 Invalid "UpdateOptions.meta.k8s.io \"\" is invalid: ` + dryRun + `"`},
		{"DELETE", "/none", "", `404 NotFound "widgets.samples.dev \"none\" not found"`},
		{"DELETE", "/one", `{"preconditions":{"uid":"other"}}`, `409 Conflict "Operation cannot be fulfilled on Widget.samples.dev \"one\": the UID in the precondition (other) does not match the UID in record (uid-2). The object might have been deleted and then recreated"`},
		{"DELETE", "/one", `{"preconditions":{"resourceVersion":"5"}}`, `409 Conflict "Operation cannot be fulfilled on Widget.samples.dev \"one\": the ResourceVersion in the precondition (5) does not match the ResourceVersion in record (2). The object might have been modified"`},
		{"DELETE", "/one", `{"kind":"Pod"}`, `400 BadRequest "no kind \"Pod\" is registered for the options of a delete"`},
		{"DELETE", "/one", `{"dryRun":["Some"]}`, `422 Invalid "DeleteOptions.meta.k8s.io \"\" is invalid: ` + dryRun + `"`},
		{"DELETE", "/one?gracePeriodSeconds=x", "", `400 BadRequest "strconv.ParseInt: parsing \"x\": invalid syntax"`},
		{"DELETE", "", "", `405 MethodNotAllowed "deletecollection is not supported on resources of kind \"widgets.samples.dev\""`},
		{"PATCH", "/one", "{}", `405 MethodNotAllowed "patch is not supported on resources of kind \"widgets.samples.dev\""`},
		{"GET", "/one", "", "200 Widget one@2 generation 0"},
	} {
		if got := describe(t, r.send(t, row[0], inA+row[1], row[2])); got != row[3] {
			t.Errorf("%s %s %.80s\n got %s\nwant %s", row[0], row[1], row[2], got, row[3])
		}
	}
	for _, row := range [][2]string{{"POST", ""}, {"PUT", "/one"}, {"DELETE", "/one"}} {
		resp := r.send(t, row[0], inA+row[1], written("one", `,"resourceVersion":"2"`, ""), "Content-Type", "text/plain")
		if got := describe(t, resp); got != `415 UnsupportedMediaType "the body of the request was in an unknown format - accepted media types include: application/json"` {
			t.Errorf("%s: got %s", row[0], got)
		}
	}
	upper := describe(t, r.send(t, "POST", inA, written("UPPER", "", "")))
	if !strings.HasPrefix(upper, `422 Invalid "Widget.samples.dev \"UPPER\" is invalid: metadata.name: Invalid value: \"UPPER\": a lowercase RFC 1123 subdomain`) {
		t.Errorf("got %s", upper)
	}
	if resp := r.send(t, "POST", widgets, written("x", "", "")); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a namespace: got %s", resp.Status)
	}
}

// TestWritesAreSeen: each answer is followed by a read that has it.
func TestWritesAreSeen(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	uid := func() string {
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON([]byte(body(t, r.get(t, inA+"/one")))); err != nil {
			t.Fatal(err)
		}
		if created := obj.GetCreationTimestamp(); created.IsZero() {
			t.Error("it has no time of its creation")
		}
		return string(obj.GetUID())
	}
	for i, row := range [][4]string{
		{"POST", "", written("one", `,"uid":"mine","generation":7,"deletionTimestamp":"2026-01-01T00:00:00Z"`, `,"spec":{"node":"n1"}`), "201 Widget one@2 generation 1"},
		{"GET", "/one", "", "200 Widget one@2 generation 1"},
		{"PUT", "/one", written("one", `,"resourceVersion":"2","labels":{"a":"b"}`, `,"spec":{"node":"n1"}`), "200 Widget one@3 generation 1"},
		{"PUT", "/one", written("one", `,"resourceVersion":"3","generation":9,"labels":{"a":"b"}`, `,"spec":{"node":"n2"}`), "200 Widget one@4 generation 2"},
		{"PUT", "/one", written("one", `,"resourceVersion":"4","labels":{"a":"b"}`, `,"spec":{"node":"n2"}`), "200 Widget one@4 generation 2"},
		{"PUT", "/one?dryRun=All", written("one", `,"resourceVersion":"4"`, ""), "200 Widget one@4 generation 3"},
		{"POST", "?dryRun=All", written("dry", "", ""), "201 Widget dry@- generation 1"},
		{"GET", "/one", "", "200 Widget one@4 generation 2"},
		{"DELETE", "/one?dryRun=All", "", "200 deleted widgets one UID"},
		{"DELETE", "/one", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background","preconditions":{"resourceVersion":"4","uid":"UID"}}`, "200 deleted widgets one UID"},
		{"GET", "/one", "", `404 NotFound "widgets.samples.dev \"one\" not found"`},
		{"POST", "", written("one", "", ""), "201 Widget one@6 generation 1"},
	} {
		id := ""
		if i > 0 && i < 10 {
			id = uid()
		}
		got := describe(t, r.send(t, row[0], inA+row[1], strings.ReplaceAll(row[2], "UID", id)))
		if want := strings.ReplaceAll(row[3], "UID", id); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", row[0], row[1], got, want)
		}
	}
}

// TestFinalizersHoldAnObject: it goes when the last one does.
func TestFinalizersHoldAnObject(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	held := `,"finalizers":["a.dev/b"]`
	deleted := func() bool { return strings.Contains(body(t, r.get(t, inA+"/one")), "deletionTimestamp") }
	for _, row := range [][4]string{
		{"POST", "", written("one", held, ""), "201 Widget one@2 generation 1"},
		{"DELETE", "/one?dryRun=All", "", "200 Widget one@2 generation 2"},
		{"DELETE", "/one", "", "200 Widget one@3 generation 2"},
		{"DELETE", "/one", "", "200 Widget one@3 generation 2"},
		{"PUT", "/one", written("one", held+`,"resourceVersion":"3","labels":{"a":"b"}`, ""), "200 Widget one@4 generation 2"},
		{"PUT", "/one", written("one", `,"finalizers":["a.dev/b","a.dev/c"],"resourceVersion":"4"`, ""), `422 Invalid "Widget.samples.dev \"one\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.dev/c\"}"`},
	} {
		if got := describe(t, r.send(t, row[0], inA+row[1], row[2])); got != row[3] {
			t.Errorf("%s %s\n got %s\nwant %s", row[0], row[1], got, row[3])
		}
	}
	if !deleted() {
		t.Error("it is not marked")
	}
	if got := describe(t, r.send(t, "PUT", inA+"/one", written("one", `,"resourceVersion":"4"`, ""))); got != "200 Widget one@4 generation 2" {
		t.Errorf("the last one: got %s", got)
	}
	if resp := r.get(t, inA+"/one"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("afterwards: got %s", resp.Status)
	}
}

func TestNamesAreGenerated(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	long := strings.Repeat("x", 70)
	for _, base := range []string{"w-", long} {
		got := describe(t, r.send(t, "POST", inA, `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"generateName":"`+base+`"}}`))
		if want := regexp.MustCompile(`^201 Widget ` + base[:min(len(base), 58)] + `[a-z0-9]{5}@`); !want.MatchString(got) {
			t.Errorf("got %s, want %v", got, want)
		}
	}
}

func TestFieldsThatAreThereTwiceAreWarnedOf(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	for query, want := range map[string]string{"": `299 - "duplicate field \"x\""`, "?fieldValidation=Ignore": ""} {
		resp := r.send(t, "POST", inA+query, written(fmt.Sprint("w", len(query)), "", `,"x":1,"x":2`))
		if resp.StatusCode != http.StatusCreated || resp.Header.Get("Warning") != want {
			t.Errorf("%q: got %s, Warning: %s", query, resp.Status, resp.Header.Get("Warning"))
		}
	}
}

// deadlined is an answer that knows its deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.deadline = at
	return nil
}

// TestUpstreamHasNoDeadline: an answer of the upstream, such as a Pod's log, may last longer than
// the time that a list before it on the same connection had to be written.
func TestUpstreamHasNoDeadline(t *testing.T) {
	answer := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	asked := 0
	r := newRig(t, serve.Config{}, true)
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Cache: r.cache, Strict: true,
		Upstream: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			asked++
			if !answer.deadline.IsZero() {
				t.Errorf("the deadline is %v", answer.deadline)
			}
		}),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/one/log?follow=true", "/one", ""} {
		answer.deadline = time.Now()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", inA+path, nil))
	}
	if asked != 3 {
		t.Errorf("the upstream was asked %d times", asked)
	}
}

// TestWritesPassOn: a resource with an upstream has no writes of its own.
func TestWritesPassOn(t *testing.T) {
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
			{"GET", inA + "/one"}: true, {"GET", inA}: true, {"GET", inA + "?resourceVersion=0"}: false, {"GET", inA + "?limit=1"}: true,
			{"GET", inA + "/one?resourceVersion=1"}: false, {"GET", inA + "?watch=true&timeoutSeconds=1"}: false,
		} {
			if got := body(t, r.get(t, request[1])); strings.HasPrefix(got, "upstream") != (isRead && strict) {
				t.Errorf("strict %v: %v: got %s", strict, request, got)
			}
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			if got := body(t, r.send(t, method, inA+"/one", "")); got != "upstream "+method+" "+inA+"/one" {
				t.Errorf("got %s", got)
			}
		}
		if got := body(t, r.get(t, inA+"/one/status")); got != "upstream GET "+inA+"/one/status" {
			t.Errorf("got %s", got)
		}
	}
}
