// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// FuzzWrite shows that any write is answered with an object or a refusal, and that all stored
// objects can be read and listed.
func FuzzWrite(f *testing.F) {
	for _, content := range []string{
		widgetJSON("one", `,"finalizers":["a/b"]`, `,"spec":{"node":"n1"}`), widgetJSON("one", `,"resourceVersion":"2"`, ""), widgetJSON("", `,"generateName":"x"`, ""),
		`{"preconditions":{"uid":"x"},"dryRun":["All"]}`, `{"metadata":{"name":"one","labels":{"a":1}}}`, `[]`, ``, `{"kind":"Widget"`,
	} {
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			f.Add(method, "one", "dryRun=", content)
		}
	}
	f.Fuzz(func(t *testing.T, method, name, query, content string) {
		r := newRig(t, serve.Config{MaxBody: 1 << 16}, true)
		r.create(t, "a", "one", "")
		send := func(method, path, query, content string) *httptest.ResponseRecorder {
			req := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(content))
			req.Method, req.URL.Path, req.URL.RawQuery = method, path, query
			answer := httptest.NewRecorder()
			r.handler.ServeHTTP(answer, req)
			return answer
		}
		switch method {
		case "POST":
			name = ""
		case "PUT", "DELETE":
			name = "/" + name
		default:
			return
		}
		if answer := send(method, widgetsInA+name, query, content); answer.Code >= 500 && !strings.Contains(answer.Body.String(), "resourceVersion should not be set") {
			t.Errorf("%s %q?%q with %q: got %d %s", method, name, query, content, answer.Code, answer.Body)
		}
		list, err := r.cache.List(t.Context(), watchcache.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Objects {
			if answer := send("GET", "/apis/samples.dev/v1/namespaces/"+o.Namespace()+"/widgets/"+o.Name(), "", ""); answer.Code != http.StatusOK || answer.Body.String() != string(o.Bytes) {
				t.Errorf("GET of %s: got %d %s, want the stored object", o.Key, answer.Code, answer.Body)
			}
		}
	})
}
