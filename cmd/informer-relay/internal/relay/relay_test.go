// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
)

const tokens = `
	listen: {address: 127.0.0.1:0}
	access: {mode: TokenReview}
	resources:
	- {version: v1, resource: pods, selectableFields: [spec.nodeName]}
	- {version: v1, resource: nodes}
	shutdown: {delay: 0s, period: 0s}`

// TestCallersReadWithTheirRights sends requests of callers with one right each, in the modes that
// ask the API server.
func TestCallersReadWithTheirRights(t *testing.T) {
	for _, mode := range []string{"TokenReview", "SelfSubjectAccessReview"} {
		t.Run(mode, func(t *testing.T) {
			s := newAPIServer(t,
				"lister list pods in shop", "watcher watch pods in", "getter get pods in shop web", "one list pods in shop web",
				"nodes list nodes in", "scraper get /metrics", "looker get /api")
			s.pods.Create(pod("shop", "web"))
			r := s.start(t, configOf(t, strings.Replace(tokens, "TokenReview", mode, 1)))
			r.await(t)
			c := client(t)
			for _, test := range []struct {
				token, path string
				code        int
				has         string
			}{
				{"lister", "/api/v1/namespaces/shop/pods", 200, `"name":"web"`},
				{"lister", "/api/v1/namespaces/shop/pods?limit=nonsense", 400, `"reason":"BadRequest"`},
				{"lister", "/api/v1/namespaces/billing/pods", 403, `pods is forbidden: User \"lister\" cannot list resource \"pods\" in API group \"\" in the namespace \"billing\"`},
				{"lister", "/api/v1/pods", 403, "at the cluster scope"},
				{"lister", "/api/v1/pods?fieldSelector=metadata.namespace=shop", 403, "at the cluster scope"},
				{"lister", "/api/v1/namespaces/shop/pods?watch=true&timeoutSeconds=1", 403, "cannot watch"},
				{"lister", "/api/v1/namespaces/shop/pods?limit=nonsense&watch=maybe&timeoutSeconds=1", 403, "cannot watch"},
				{"lister", "/api/v1/namespaces/shop/pods/web", 403, `pods \"web\" is forbidden: User \"lister\" cannot get`},
				{"watcher", "/api/v1/pods?watch=true&timeoutSeconds=1", 200, `"ADDED"`},
				{"watcher", "/api/v1/watch/pods?timeoutSeconds=1", 200, `"ADDED"`},
				{"watcher", "/api/v1/pods", 403, "cannot list"},
				{"getter", "/api/v1/namespaces/shop/pods/web", 200, `"name":"web"`},
				{"getter", "/api/v1/namespaces/shop/pods/other", 403, "cannot get"},
				{"one", "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name=web", 200, `"name":"web"`},
				{"one", "/api/v1/namespaces/shop/pods", 403, "cannot list"},
				{"nodes", "/api/v1/nodes", 200, "NodeList"},
				{"looker", "/api", 200, "APIVersions"},
				{"lister", "/api", 403, `forbidden: User \"lister\" cannot get path \"/api\"`},
				{"scraper", "/metrics", 200, `watchcache_objects{cache="pods/v1"} 1`},
				{"lister", "/metrics", 403, `cannot get path \"/metrics\"`},
				{"", "/metrics", 401, "Unauthorized"},
				{"", "/api/v1/pods", 401, `"reason":"Unauthorized"`},
				{"", "/healthz", 200, "ok"},
				{"", "/readyz", 200, "pods/v1: synced: 1 objects"},
			} {
				code, body := get(t, c, r.url+test.path, test.token)
				if code != test.code || !strings.Contains(body, test.has) {
					t.Errorf("GET %s with the token %q: got %d %s, want %d with %s", test.path, test.token, code, body, test.code, test.has)
				}
				status := metav1.Status{}
				if err := json.Unmarshal([]byte(body), &status); code >= 400 && (err != nil || status.Kind != "Status" || int(status.Code) != code) {
					t.Errorf("GET %s with the token %q: got %s, want a Status", test.path, test.token, body)
				}
			}
			if mode == "TokenReview" {
				if code, body := get(t, c, r.url+"/api", "stranger"); code != 401 {
					t.Errorf("an unknown token: got %d %s, want 401", code, body)
				}
			}
			s.broken.Store(true)
			resp := open(t, c, r.url+"/api/v1/namespaces/shop/pods", "newcomer")
			defer resp.Body.Close()
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
				t.Errorf("while reviews fail: got %s, %v; want 503 with Retry-After", resp.Status, resp.Header)
			}
		})
	}
}

// TestWatchEndsWhenRightIsRevoked revokes the right of an open watch, in a bubble. Failed reviews
// alone must not end it.
func TestWatchEndsWhenRightIsRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAPIServerAt(t, informertest.NewPipes(), "ann watch pods in")
		config := configOf(t, tokens)
		config.Access.AllowedFor = 0
		pipes := informertest.NewPipes()
		r := s.startAt(t, config, pipes)
		r.await(t)
		transport := &http.Transport{DialContext: pipes.Dial}
		defer transport.CloseIdleConnections()
		resp := open(t, &http.Client{Transport: transport}, r.url+"/api/v1/pods?watch=true&resourceVersion=0", "ann")
		defer resp.Body.Close()
		events := bufio.NewReader(resp.Body)

		s.broken.Store(true)
		time.Sleep(3 * time.Minute) // three intervals, or two if they are long
		if failed := metric(t, r, `informer_relay_decisions_total{answer="failed"}`); failed < 2 {
			t.Errorf("got %v failed reviews of the open watch, want at least 2", failed)
		}
		s.pods.Create(pod("shop", "web"))
		if line, err := events.ReadString('\n'); err != nil || !strings.Contains(line, `"ADDED"`) {
			t.Fatalf("after failed reviews: got %q, %v; want an ADDED event", line, err)
		}
		s.broken.Store(false)
		s.setRight("ann watch pods in", false)
		if rest, err := io.ReadAll(events); err != nil || len(rest) > 0 {
			t.Errorf("the watch ended with %q, %v; want no more events", rest, err)
		}
	})
}

// TestEachNamespaceHasItsOwnWatch serves two namespaces of a resource.
func TestEachNamespaceHasItsOwnWatch(t *testing.T) {
	s := newAPIServer(t)
	for _, namespace := range []string{"shop", "billing", "other"} {
		s.pods.Create(pod(namespace, "in-"+namespace))
	}
	r := s.start(t, configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: None}
	resources: [{version: v1, resource: pods, namespaces: [shop, billing]}]
	shutdown: {delay: 0s, period: 0s}`))
	r.await(t)
	c := client(t)
	for path, want := range map[string]string{
		"/api/v1/namespaces/shop/pods":    "in-shop",
		"/api/v1/namespaces/billing/pods": "in-billing",
		"/api/v1/namespaces/other/pods":   `"reason":"Forbidden"`,
		"/api/v1/pods":                    `"reason":"Forbidden"`,
		"/api/v1":                         `"name":"pods"`,
		"/readyz":                         "pods/v1 in shop: synced: 1 objects",
	} {
		if _, body := get(t, c, r.url+path, ""); !strings.Contains(body, want) || strings.Contains(body, "in-other") {
			t.Errorf("GET %s: got %s, want %s", path, body, want)
		}
	}
	awaitWatches(t, s, 2)
}

func awaitWatches(t *testing.T, s *apiServer, want int64) {
	t.Helper()
	// The server can only be polled.
	for began := time.Now(); s.watches.Load() != want; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("the API server has %d watches, want %d", s.watches.Load(), want)
		}
	}
}

func TestTLSAndCertificates(t *testing.T) {
	s, a, folder := newAPIServer(t), newAuthority(t), t.TempDir()
	cert, key := a.issue(t, "relay", "")
	write(t, folder, time.Now(), map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": a.pem})
	config := configOf(t, `
	listen: {address: 127.0.0.1:0, certFile: tls.crt, keyFile: tls.key, clientCAFile: ca.crt}
	access:
	  mode: Certificates
	  callers:
	  - {names: ["spiffe://agent"], resources: [pods], verbs: [list]}
	resources: [{version: v1, resource: pods}]
	shutdown: {delay: 0s, period: 0s}`)
	for _, file := range []*string{&config.Listen.CertFile, &config.Listen.KeyFile, &config.Listen.ClientCAFile} {
		*file = filepath.Join(folder, *file)
	}
	r := s.start(t, config)
	r.await(t)
	for uri, want := range map[string]int{"spiffe://agent": 200, "spiffe://other": 403, "": 401} {
		transport := &http.Transport{TLSClientConfig: a.clientConfig(t, "", uri), ForceAttemptHTTP2: true}
		code, body := get(t, &http.Client{Transport: transport}, r.url+"/api/v1/pods", "")
		if code != want {
			t.Errorf("a certificate with the URI %q: got %d %s, want %d", uri, code, body, want)
		}
		resp := open(t, &http.Client{Transport: transport}, r.url+"/readyz", "")
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
			t.Errorf("a certificate with the URI %q: a probe got %s over %s, want 200 over HTTP/2", uri, resp.Status, resp.Proto)
		}
		transport.CloseIdleConnections()
	}
}

// TestStartWaitsForAPIServer shows the answers to probes and clients while a resource is missing.
func TestStartWaitsForAPIServer(t *testing.T) {
	s := newAPIServer(t)
	config := configOf(t, strings.Replace(tokens, "TokenReview", "None", 1))
	config.Resources[1].Resource = "widgets" // missing
	r := s.start(t, config)
	c := client(t)
	if code, body := get(t, c, r.url+"/readyz", ""); code != 503 || !strings.Contains(body, "not ready") {
		t.Errorf("GET /readyz: got %d %s, want 503", code, body)
	}
	resp := open(t, c, r.url+"/api/v1/pods", "")
	resp.Body.Close()
	if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" {
		t.Errorf("a list: got %s %v, want 429 with Retry-After", resp.Status, resp.Header)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
}

func TestConfigMismatchEndsServe(t *testing.T) {
	s := newAPIServer(t)
	for want, change := range map[string]string{
		"bindings can't be listed and watched": "resource: bindings",
		"nodes have no namespaces":             "resource: nodes, namespaces: [shop]",
	} {
		c := configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: None}
	resources: [{version: v1, `+change+`}]`)
		r := s.start(t, c)
		<-r.ended
		if err := r.stop(); !errors.Is(err, errConfigMismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Serve returned %v, want %s", change, err, want)
		}
	}
}
