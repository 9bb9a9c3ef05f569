// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/test/internal/caches"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// play is a history and its servers.
type play struct {
	api      *devserver.Server
	client   *http.Client
	versions versions
	cache    *watchcache.Cache // of the handler
	server   *side             // the API server
	handler  *side             // the handler of the cache
	requests sync.WaitGroup
}

// side is a server under comparison.
type side struct {
	url    string
	tokens map[string]string // continue tokens of its own, by name
}

// start starts the servers, without widgets.
func start(t *testing.T) *play {
	t.Helper()
	p := startAPI(t)
	p.startHandler(t)
	p.versions.add("r0", p.listVersion(t))
	return p
}

// startAPI starts an API server, without a handler.
func startAPI(t *testing.T) *play {
	t.Helper()
	crds, err := devserver.ReadCRDs(os.DirFS("testdata"), "crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	api := devservertest.Start(t, devserver.Options{CRDs: crds})
	p := newPlay(t, api.URL())
	p.api = api
	return p
}

// newPlay returns a play for a server.
func newPlay(t *testing.T, url string) *play {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	p := &play{client: &http.Client{Transport: transport}, server: &side{url: url}}
	t.Cleanup(p.requests.Wait)
	return p
}

// startHandler starts a handler of the API server's widgets.
func (p *play) startHandler(t *testing.T) {
	t.Helper()
	widgets := schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"}
	fields := []string{"spec.node", "spec.color"}
	config := p.api.Config()
	config.Transport = p.client.Transport
	p.cache = caches.Run(t, watchcache.Config{Storage: caches.Upstream(t, config, widgets, upstream.Options{Kind: "Widget", Fields: fields})})
	handler, err := serve.New(serve.Config{
		Resources: []serve.Resource{{GroupVersionResource: widgets, Kind: "Widget", Namespaced: true, Fields: fields, Cache: p.cache}},
		// like the API server
		Shards: utilfeature.DefaultFeatureGate.Enabled(features.ShardedListAndWatch),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.handler = &side{url: server.URL}
}

// awaitHandler waits until the handler's cache has a version.
func (p *play) awaitHandler(t *testing.T, version uint64) {
	t.Helper()
	poll.Until(t, func() error { return p.cache.WaitUntilFresh(t.Context(), version) })
}

// tokens are the continue tokens named in requests. Each side makes its own tokens for pages.
var tokens = []struct{ name, query, content string }{
	{name: "page 2", query: "limit=2"},
	{name: "page 2 of app=x", query: "limit=1&labelSelector=app=x"},
	{name: "page 2 at b2", query: "limit=2&resourceVersion={b2}"},
	{name: "newest", content: `{"v":"meta.k8s.io/v1","rv":-1,"start":"a/three\u0000"}`},
	{name: "version 0", content: `{"v":"meta.k8s.io/v1","rv":0,"start":"a/three\u0000"}`},
	{name: "no start", content: `{"v":"meta.k8s.io/v1","rv":{head},"start":""}`},
	{name: "v2", content: `{"v":"meta.k8s.io/v2","rv":{head},"start":"a/three\u0000"}`},
	{name: "upwards", content: `{"v":"meta.k8s.io/v1","rv":{head},"start":"../../secrets"}`},
	{name: "future", content: `{"v":"meta.k8s.io/v1","rv":99999999,"start":"a/three\u0000"}`},
	{name: "cut", content: `{"v":`},
}

// fetchTokens gets the tokens of each side.
func (p *play) fetchTokens(t *testing.T) {
	t.Helper()
	for _, s := range []*side{p.server, p.handler} {
		s.tokens = map[string]string{}
		for _, token := range tokens {
			if token.query != "" {
				s.tokens[token.name] = p.page(t, s, token.query)
				continue
			}
			s.tokens[token.name] = base64.RawURLEncoding.EncodeToString([]byte(p.fill(t, s, token.content)))
		}
	}
}

// page returns the continue token of a list.
func (p *play) page(t *testing.T, s *side, query string) string {
	t.Helper()
	resp, err := p.client.Do(p.request(t, s, &exchange{request: "GET widgets?" + query}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list content
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	if list.Metadata.Continue == "" {
		t.Fatalf("%s: the list with %s has no second page", s.url, query)
	}
	return list.Metadata.Continue
}

var nameInBraces = regexp.MustCompile(`\{([a-z][^{}"]*)\}`)

// fill replaces names by versions and tokens.
func (p *play) fill(t *testing.T, s *side, text string) string {
	t.Helper()
	return nameInBraces.ReplaceAllStringFunc(text, func(found string) string {
		name := found[1 : len(found)-1]
		if text, ok := p.versions.number(name); ok {
			return text
		}
		text, ok := s.tokens[name]
		if !ok {
			t.Fatalf("%s names neither a version nor a token", found)
		}
		return text
	})
}

// request returns an exchange's request to a side.
func (p *play) request(t *testing.T, s *side, e *exchange) *http.Request {
	t.Helper()
	method, target, body, header := e.parts()
	path, query, _ := strings.Cut(p.fill(t, s, target), "?")
	if !strings.HasPrefix(path, "/") {
		path = base + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(p.fill(t, s, body)))
	if err != nil {
		t.Fatal(err)
	}
	var escaped []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, value, ok := strings.Cut(parameter, "=")
		if ok {
			value = "=" + url.QueryEscape(value)
		}
		escaped = append(escaped, name+value)
	}
	req.URL.RawQuery = strings.Join(escaped, "&")
	req.Header = header
	req.Header.Set("User-Agent", "conformance") // servers indent answers for a browser or curl
	return req
}

// pendingAnswer is the answer to a sent request.
type pendingAnswer struct {
	began chan struct{} // closed when the answer begins or the request fails
	ended chan struct{} // closed when reply and err are set
	reply reply
	err   error
}

// send sends requests to a side, all at once. The test waits for its goroutines.
func (p *play) send(t *testing.T, s *side, exchanges []*exchange) []*pendingAnswer {
	t.Helper()
	var all []*pendingAnswer
	for _, e := range exchanges {
		x := &pendingAnswer{began: make(chan struct{}), ended: make(chan struct{})}
		all = append(all, x)
		req := p.request(t, s, e)
		p.requests.Go(func() {
			defer close(x.ended)
			at := time.Now()
			resp, err := p.client.Do(req)
			close(x.began)
			if err == nil {
				x.reply, err = read(resp, at)
			}
			x.err = err
		})
	}
	return all
}

// line waits for an answer, and returns it as a line of the file.
func (p *play) line(t *testing.T, x *pendingAnswer) string {
	t.Helper()
	await(t, x.ended)
	if x.err != nil {
		return "failed: " + x.err.Error()
	}
	return p.versions.line(x.reply)
}

// await waits until a channel is closed.
func await(t *testing.T, closed <-chan struct{}) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(poll.Patience):
		t.Fatalf("no answer for %v", poll.Patience)
	}
}
