// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// base is the parent path of the file's requests.
const base = "/apis/samples.dev/v1/"

// change is a write to a widget. Its name is also the name of the new version.
type change struct {
	name        string
	method, key string // of the widget: NAMESPACE/NAME
	labels      string // app=x,tier=front
	spec        string // node=n1,color=red
	finalizers  string // as JSON, "" for no change
}

// before is the history before the first request; live are the changes during the watches of the
// section "live watches".
var before = []change{
	{name: "a1", method: "POST", key: "a/one", labels: "app=x,tier=front", spec: "node=n1,color=red"},
	{name: "a2", method: "POST", key: "a/two", labels: "app=x,tier=back", spec: "node=n1,color=blue"},
	{name: "a3", method: "POST", key: "a/three", labels: "app=y", spec: "node=n2,color=red"},
	{name: "b1", method: "POST", key: "b/one", labels: "app=x", spec: "node=n2,color=blue"},
	{name: "b2", method: "POST", key: "b/two", spec: "node=n3,color=red"},
	{name: "c1", method: "POST", key: "c/gone", labels: "app=y", spec: "node=n3,color=red"},
	{name: "a1u", method: "PATCH", key: "a/one", spec: "color=green"},
	{name: "a2l", method: "PATCH", key: "a/two", labels: "app=y"},
	{name: "b1n", method: "PATCH", key: "b/one", spec: "node=n1"},
	{name: "c1d", method: "DELETE", key: "c/gone"},
	{name: "head", method: "POST", key: "ab/five", labels: "app=x", spec: "node=n5,color=red"},
}

var live = []change{
	{name: "v1", method: "POST", key: "d/live", labels: "app=x", spec: "node=n1"},
	{name: "v2", method: "PATCH", key: "d/live", labels: "app=y"},
	{name: "v3", method: "PATCH", key: "d/live", spec: "node=n2"},
	{name: "v4", method: "PATCH", key: "d/live", labels: "app=x"},
	{name: "v5", method: "PATCH", key: "d/live", spec: "node=n1"},
	{name: "v6", method: "PATCH", key: "d/live", finalizers: `["samples.dev/wait"]`},
	{name: "v7", method: "DELETE", key: "d/live"}, // held up by the finalizer
	{name: "v8", method: "PATCH", key: "d/live", finalizers: `[]`},
	{name: "v9", method: "DELETE", key: "a/one"},
	{name: "v10", method: "POST", key: "a/one", labels: "app=x,tier=front", spec: "node=n1,color=red"},
}

// body returns the widget or the merge patch of a change.
func (c change) body() []byte {
	namespace, name, _ := strings.Cut(c.key, "/")
	metadata := map[string]any{"name": name, "namespace": namespace}
	if c.labels != "" {
		metadata["labels"] = pairs(c.labels)
	}
	if c.finalizers != "" {
		metadata["finalizers"] = json.RawMessage(c.finalizers)
	}
	widget := map[string]any{"apiVersion": "samples.dev/v1", "kind": "Widget", "metadata": metadata}
	if c.spec != "" {
		widget["spec"] = pairs(c.spec)
	}
	raw, err := json.Marshal(widget)
	if err != nil {
		panic(err) // impossible for maps of strings
	}
	return raw
}

func pairs(text string) map[string]string {
	m := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		m[name] = value
	}
	return m
}

// make makes changes one after the other, and names their versions.
func (p *play) make(t *testing.T, changes ...change) {
	t.Helper()
	for _, c := range changes {
		namespace, name, _ := strings.Cut(c.key, "/")
		path, body := base+"namespaces/"+namespace+"/widgets", c.body()
		if c.method != http.MethodPost {
			path += "/" + name
		}
		if c.method == http.MethodDelete {
			body = nil
		}
		version := p.write(t, c.method, path, body)
		if c.name == "v8" || c.method == http.MethodDelete && c.name != "v7" {
			version = p.listVersion(t) // the answer to a delete has the version before it
		}
		p.versions.add(c.name, version)
		p.awaitHandler(t, version)
	}
}

// write sends a write to the API server, and returns the version of its answer.
func (p *play) write(t *testing.T, method, path string, body []byte) uint64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.server.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return p.versionOf(t, req)
}

// listVersion returns the version of a list.
func (p *play) listVersion(t *testing.T) uint64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.server.url+base+"widgets", nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.versionOf(t, req)
}

func (p *play) versionOf(t *testing.T, req *http.Request) uint64 {
	t.Helper()
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var answer struct {
		Metadata struct {
			ResourceVersion uint64 `json:"resourceVersion,string"`
		} `json:"metadata"`
	}
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return answer.Metadata.ResourceVersion
}
