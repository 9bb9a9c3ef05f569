// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/examples/crd-sample/api/v1alpha1"
	listers "github.com/informer-gen/informer-gen/examples/crd-sample/generated/listers/samples/v1alpha1"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

// side is one of two servers that get the same requests.
type side struct {
	url       string
	transport http.RoundTripper
	names     map[string]string // of uids and resourceVersions, in the order of their appearance
	values    map[string]string // uids and resourceVersions by name
}

// ask sends a request, and returns the code and the body of the answer. In both, {uid1} and {rv1}
// stand for values of earlier answers.
func (s *side) ask(t *testing.T, method, path, contentType, body string) string {
	t.Helper()
	for name, value := range s.values {
		body = strings.ReplaceAll(body, name, value)
	}
	req, err := http.NewRequestWithContext(deadline(t), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := s.transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		return fmt.Sprint(resp.StatusCode, " ", string(raw))
	}
	s.dropVolatile(content)
	raw, err = json.MarshalIndent(s.withNames(content), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(raw))
}

// withNames returns a JSON value with names in place of known uids and resourceVersions. It
// replaces them in strings, not in numbers.
func (s *side) withNames(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = s.withNames(value[key])
		}
	case []any:
		for n := range value {
			value[n] = s.withNames(value[n])
		}
	case string:
		for known, name := range s.names {
			value = regexp.MustCompile(`\b`+regexp.QuoteMeta(known)+`\b`).ReplaceAllString(value, name)
		}
		return value
	}
	return value
}

// dropVolatile removes or names the values that differ between any two servers.
func (s *side) dropVolatile(content map[string]any) {
	delete(content, "managedFields") // sourcetest has them only since the first apply
	if content["continue"] == "" {
		delete(content, "continue")
	}
	for key, value := range content {
		switch value := value.(type) {
		case map[string]any:
			s.dropVolatile(value)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					s.dropVolatile(item)
				}
			}
		case string:
			kind := map[string]string{"uid": "uid", "resourceVersion": "rv"}[key]
			if strings.HasSuffix(key, "Timestamp") {
				content[key] = "a time"
			}
			if kind != "" && value != "" && s.names[value] == "" {
				name := fmt.Sprintf("{%s%d}", kind, strings.Count(fmt.Sprint(s.names), ":{"+kind)+1)
				s.names[value], s.values[name] = name, value
			}
		}
	}
}

// TestSourcetestAnswersAsTheServer sends the same writes to the real API server and to sourcetest,
// and compares the answers: byte by byte, except for uids, times and resourceVersions.
func TestSourcetestAnswersAsTheServer(t *testing.T) {
	memory := sourcetest.New()
	memory.Patches = patches.All{}
	sourcetest.Serve[*unstructured.Unstructured](memory, listers.WidgetResource(), "Widget")
	sites := sourcetest.Serve[*v1alpha1.Site](memory, listers.SiteResource(), "")
	for range 100 { // large resourceVersions are unlike other numbers
		sites.Create(&v1alpha1.Site{ObjectMeta: metav1.ObjectMeta{GenerateName: "site-"}})
	}
	sides := []*side{{url: shared.url, transport: shared.transport}, {url: "http://memory", transport: memory}}
	for _, s := range sides {
		s.names, s.values = map[string]string{}, map[string]string{}
	}
	const (
		plain, merge   = "application/json", "application/merge-patch+json"
		jsonPatch      = "application/json-patch+json"
		strategic      = "application/strategic-merge-patch+json"
		apply          = "application/apply-patch+yaml"
		all            = "/apis/samples.informer-gen.dev/v1alpha1/namespaces/as-the-server/widgets"
		one            = all + "/a"
		held, released = `{"metadata":{"finalizers":["samples.io/a","samples.io/b"]}}`, `{"metadata":{"finalizers":["samples.io/b"]}}`
	)
	widget := func(name, version, node, phase string) string {
		if version != "" {
			version = `,"resourceVersion":"` + version + `"`
		}
		return fmt.Sprintf(`{"apiVersion":"samples.informer-gen.dev/v1alpha1","kind":"Widget","metadata":{"name":%q,"generation":9%s},`+
			`"spec":{"nodeName":%q,"tier":"bronze"},"status":{"phase":%q}}`, name, version, node, phase)
	}
	// For these only code and reason are compared: the server validates custom resources twice, and
	// words the errors of malformed patches differently.
	const noLabel, noUID, noPatch, noList, late = `{"metadata":{"labels":{"a":"-"}}}`, `{"metadata":{"uid":"b"}}`, `{`, `{"op":"add"}`, `{"metadata":{"finalizers":["samples.io/c"]}}`
	loose := map[string]bool{noLabel: true, noUID: true, noPatch: true, noList: true, late: true}
	for _, r := range [][4]string{
		{"GET", one, plain, ""},
		{"PUT", one, plain, widget("a", "", "n1", "")},
		{"POST", all, plain, widget("a", "1", "n1", "")},
		{"POST", all, plain, widget("A_b", "", "n1", "")},
		{"POST", all, plain, widget("", "", "n1", "")},
		{"POST", all + "?dryRun=All", plain, widget("a", "", "n1", "Running")},
		{"POST", all, plain, widget("a", "", "n1", "Running")},
		{"POST", all, plain, widget("a", "", "n1", "Running")},
		{"POST", all + "?dryRun=Some", plain, widget("b", "", "n1", "Running")},
		{"GET", one, plain, ""},
		{"PUT", one, plain, widget("a", "", "n2", "")},
		{"PUT", one, plain, widget("a", "1", "n2", "")},
		{"PUT", one, plain, widget("b", "{rv1}", "n2", "")},
		{"PUT", one, plain, widget("", "{rv1}", "n2", "")},
		{"PUT", one, plain, widget("a", "{rv1}", "n1", "Running")},
		{"PUT", one, plain, widget("a", "{rv1}", "n2", "Running")},
		{"PUT", one, plain, widget("a", "{rv1}", "n3", "Running")},
		{"PUT", one + "/status", plain, widget("a", "{rv1}", "n3", "Running")},
		{"PUT", one + "/status", plain, widget("a", "{rv2}", "n3", "Running")},
		{"GET", one + "/status", plain, ""},
		{"PATCH", one, merge, `{"metadata":{"labels":{"a":"b"}}}`},
		{"PATCH", one, merge, `{"metadata":{"labels":{"a":"b"}}}`},
		{"PATCH", one, merge, noLabel},
		{"PATCH", one, merge, `{"metadata":{"name":"b"}}`},
		{"PATCH", one, merge, noUID},
		{"PATCH", one, merge, `{"metadata":{"resourceVersion":"{rv1}"}}`},
		{"PATCH", one, merge, noPatch},
		{"PATCH", one + "?force=true", merge, `{}`},
		{"PATCH", one, jsonPatch, `[{"op":"replace","path":"/spec/nodeName","value":"n4"}]`},
		{"PATCH", one, jsonPatch, `[{"op":"test","path":"/spec/nodeName","value":"n5"}]`},
		{"PATCH", one, jsonPatch, noList},
		{"PATCH", one, strategic, `{}`},
		{"PATCH", one, apply, widget("a", "", "n5", "")},
		{"PATCH", one + "/status", merge, `{"status":{"phase":"Broken"},"spec":{"nodeName":"n6"}}`},
		{"PATCH", one, merge, held},
		{"DELETE", one, plain, `{"preconditions":{"uid":"x"}}`},
		{"DELETE", one, plain, `{"preconditions":{"resourceVersion":"1"}}`},
		{"DELETE", one + "?propagationPolicy=Some", plain, ""},
		{"DELETE", one + "?dryRun=All", plain, ""},
		{"DELETE", one, plain, `{"preconditions":{"uid":"{uid2}"}}`},
		{"DELETE", one, plain, ""},
		{"POST", all, plain, widget("a", "", "n1", "")},
		{"PATCH", one, merge, late},
		{"PATCH", one, merge, released},
		{"PATCH", one, merge, `{"metadata":{"finalizers":null}}`},
		{"DELETE", one, plain, ""},
		{"PATCH", one, merge, `{}`},
		{"PATCH", all + "/new?fieldManager=one", apply, `{"apiVersion":"samples.informer-gen.dev/v1alpha1","kind":"Widget","metadata":{"name":"new"},"spec":{"nodeName":"n1","tier":"bronze"}}`},
		{"PATCH", all + "/new?fieldManager=two", apply, `{"apiVersion":"samples.informer-gen.dev/v1alpha1","kind":"Widget","metadata":{"name":"new"},"spec":{"nodeName":"n2"}}`},
		{"PATCH", all + "/new?fieldManager=two&force=true", apply, `{"apiVersion":"samples.informer-gen.dev/v1alpha1","kind":"Widget","metadata":{"name":"new"},"spec":{"nodeName":"n2"}}`},
		{"DELETE", all + "?dryRun=All", plain, ""},
		{"DELETE", all + "/new", plain, ""},
	} {
		answers := make([]string, 2)
		for i, s := range sides {
			answers[i] = s.ask(t, r[0], r[1], r[2], r[3])
		}
		if loose[r[3]] {
			for i, answer := range answers {
				answers[i] = answer[:3] + regexp.MustCompile(`"reason": "\w+",?\n  "status"`).FindString(answer)
			}
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			t.Errorf("%s %s %s (-server +sourcetest):\n%s", r[0], strings.TrimPrefix(r[1], all), r[3], diff)
		}
	}
}
