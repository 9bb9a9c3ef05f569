// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/server/serve"
)

// staticTransport answers every request with the same code and body.
type staticTransport struct {
	code int
	body string
}

func (s staticTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body))}, nil
}

// FuzzDiscovery shows that, for any discovery document, the relay serves the configured resource or
// returns an error.
func FuzzDiscovery(f *testing.F) {
	const pods = `{"resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","watch"]}]}`
	for _, body := range []string{
		pods, "", "null", "[]", "{", `{"resources":null}`, `{"resources":[null]}`, strings.Replace(pods, "Pod", "", 1), strings.Replace(pods, "list", "get", 1),
		strings.Replace(pods, "true", "false", 1), strings.Replace(pods, `"kind"`, `"shortNames":["",null],"singularName":"/","kind"`, 1),
	} {
		f.Add(200, body, true)
		f.Add(200, body, false)
	}
	f.Add(404, pods, false)
	f.Fuzz(func(t *testing.T, code int, body string, namespaces bool) {
		config := configOf(t, strings.Replace(tokens, "TokenReview", "None", 1))
		if namespaces {
			config.Resources[0].Namespaces = []string{"shop"}
		}
		r, err := New(config, &rest.Config{Host: "https://api", Transport: staticTransport{code, body}})
		if err != nil {
			t.Fatal(err)
		}
		known, err := r.discovery.find(t.Context(), config.Resources[0])
		if err != nil {
			return
		}
		if known.Name != "pods" || code != http.StatusOK {
			t.Errorf("find returned %+v for the answer %d %s", known, code, body)
		}
		s := &serving{}
		resource, err := s.add(r, config.Resources[0], known)
		if err != nil {
			return
		}
		if _, err := serve.New(serve.Config{Resources: []serve.Resource{resource}}); err != nil && known.Kind != "" {
			t.Errorf("the resource in %s can't be served: %v", body, err)
		}
	})
}
