// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const widgets = "/apis/samples.dev/v1/widgets"

var widgetsResource = schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"}

// patience is how long tests wait for what comes soon.
const patience = 2 * time.Minute

// rig is a storage with widgets, its cache, and a server.
type rig struct {
	storage *memory.Storage
	cache   *watchcache.Cache
	handler *serve.Handler
	server  *httptest.Server
	client  *http.Client // adds no Accept-Encoding
}

// newRig starts a server, and runs its cache if fill is set.
func newRig(t testing.TB, config serve.Config, fill bool) *rig {
	t.Helper()
	return newRigOf(t, watchcache.Config{}, config, fill)
}

func newRigOf(t testing.TB, cacheConfig watchcache.Config, config serve.Config, fill bool) *rig {
	t.Helper()
	r := &rig{storage: memory.New("spec.node"), client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	var err error
	cacheConfig.Storage = r.storage
	cacheConfig.Wait = cmp.Or(cacheConfig.Wait, patience)
	if r.cache, err = watchcache.New(cacheConfig); err != nil {
		t.Fatal(err)
	}
	config.Resources = []serve.Resource{{
		GroupVersionResource: widgetsResource,
		Kind:                 "Widget", Namespaced: true, Fields: []string{"spec.node"}, Cache: r.cache, Writer: r.storage,
	}}
	if r.handler, err = serve.New(config); err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(r.handler)
	t.Cleanup(r.server.Close)
	t.Cleanup(r.client.CloseIdleConnections)
	if fill {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- r.cache.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-ended })
		if err := r.cache.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

type caches = map[string]*watchcache.Cache

// serveHandler starts a server with another handler, and returns its URL.
func (r *rig) serveHandler(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(r.client.CloseIdleConnections)
	return server.URL
}

// create stores a widget, and waits until the cache has it.
func (r *rig) create(t *testing.T, namespace, name, more string) {
	t.Helper()
	obj, err := r.storage.Create(t.Context(), fmt.Appendf(nil, `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"namespace":%q,"name":%q}%s}`, namespace, name, more))
	if err == nil {
		err = r.cache.WaitUntilFresh(t.Context(), obj.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) get(t *testing.T, path string, header ...string) *http.Response {
	t.Helper()
	return r.send(t, http.MethodGet, path, "", header...)
}

// send sends a request with a body.
func (r *rig) send(t *testing.T, method, path, content string, header ...string) *http.Response {
	t.Helper()
	return r.sendTo(t, r.server.URL, method, path, content, header...)
}

func (r *rig) sendTo(t *testing.T, address, method, path, content string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// body returns an answer's body.
func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestListIsTheObjectsBytes(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "one", `,"spec": { "node" : "n1" }`)
	r.create(t, "a", "two", "")
	resp := r.get(t, widgets+"?limit=1")
	got := body(t, resp)
	want := `{"kind":"WidgetList","apiVersion":"samples.dev/v1","metadata":{"resourceVersion":"3","continue":"` +
		`eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Mywic3RhcnQiOiJhL29uZVx1MDAwMCJ9","remainingItemCount":1},"items":[`
	if !strings.HasPrefix(got, want) || !strings.Contains(got, `"spec": { "node" : "n1" }`) || !strings.HasSuffix(got, "]}\n") {
		t.Errorf("got %s\nwant the prefix %s and the object's own bytes", got, want)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %s, %v; want 200 with JSON", resp.Status, resp.Header)
	}
}

func TestLargeAnswersAreCompressed(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "large", `,"data":"`+strings.Repeat("x", 200<<10)+`"`)
	r.create(t, "b", "small", "")
	plain := body(t, r.get(t, widgets))
	resp := r.get(t, widgets, "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("the large answer has the header %v, want gzip", resp.Header)
	}
	unzip, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unzip)
	if err != nil || string(raw) != plain {
		t.Errorf("got %d bytes, %v; want the %d bytes of the uncompressed answer", len(raw), err, len(plain))
	}
	if resp := r.get(t, "/apis/samples.dev/v1/namespaces/b/widgets/small", "Accept-Encoding", "gzip"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

func TestUnfilledCacheAnswersTooManyRequests(t *testing.T) {
	r := newRig(t, serve.Config{}, false)
	for _, query := range []string{"", "?watch=true", "/one"} {
		path := "/apis/samples.dev/v1/namespaces/a/widgets" + query
		resp := r.get(t, path)
		if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: got %s, Retry-After %s; want 429, 1", path, resp.Status, resp.Header.Get("Retry-After"))
		}
	}
}

// TestWatchOfUnreadingClientEnds shows that WriteTimeout ends the watch of a client that doesn't
// read, and no other watch.
func TestWatchOfUnreadingClientEnds(t *testing.T) {
	forEachProtocol(t, func(t *testing.T, setProtocols func(*http.Protocols)) {
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) { c.WriteTimeout = time.Second })
		run()
		client := connect(t, handler, setProtocols)
		var watches []*http.Response
		for range 2 {
			resp, err := client.Get("http://api" + widgets + "?watch=true")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			watches = append(watches, resp)
		}
		const objects = 8 // the window of an HTTP/2 stream has 4 MB
		for i := range objects {
			createWidget(t, storage, fmt.Sprint("w", i), oneMiB)
		}
		wantCreated(t, bufio.NewReader(watches[0].Body), "w", objects)
		time.Sleep(time.Minute)
		if n, err := io.Copy(io.Discard, watches[1].Body); err == nil || n >= objects<<20 {
			t.Errorf("the unread watch ended after %d bytes with %v, want an error before all %d MiB", n, err, objects)
		}
	})
}

func TestDiscovery(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	for path, want := range map[string]string{
		"/api":                  `{"kind":"APIVersions","versions":[],"serverAddressByClientCIDRs":null}`,
		"/apis":                 `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"samples.dev","versions":[{"groupVersion":"samples.dev/v1","version":"v1"}],"preferredVersion":{"groupVersion":"samples.dev/v1","version":"v1"}}]}`,
		"/apis/samples.dev":     `{"kind":"APIGroup","apiVersion":"v1","name":"samples.dev","versions":[{"groupVersion":"samples.dev/v1","version":"v1"}],"preferredVersion":{"groupVersion":"samples.dev/v1","version":"v1"}}`,
		"/apis/samples.dev/v1/": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"samples.dev/v1","resources":[{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["create","delete","get","list","update","watch"]}]}`,
		"/apis/other.dev":       "404 page not found",
	} {
		if got := strings.TrimSpace(body(t, r.get(t, path))); got != want {
			t.Errorf("%s\n got %s\nwant %s", path, got, want)
		}
	}
}

func TestStatusInProtobuf(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	resp := r.get(t, widgets, "Accept", "application/vnd.kubernetes.protobuf")
	if got := body(t, resp); resp.StatusCode != http.StatusNotAcceptable || !strings.HasPrefix(got, "k8s\x00") {
		t.Errorf("got %s, %q; want 406 with a Status in protobuf", resp.Status, got)
	}
}

func TestNewRejectsInvalidResources(t *testing.T) {
	cache, err := watchcache.New(watchcache.Config{Storage: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	good := serve.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Cache: cache}
	noCache := good
	noCache.Cache = nil
	for want, resources := range map[string][]serve.Resource{
		"serve /v1, Resource=pods: it is listed twice in Resources":                      {good, good},
		"serve /v1, Resource=pods: set Version, Resource, Kind, and Cache or Namespaces": {noCache},
	} {
		if _, err := serve.New(serve.Config{Resources: resources}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
