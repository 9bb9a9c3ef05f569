// SPDX-License-Identifier: Apache-2.0

//go:build unix

package serve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// BenchmarkList reports the CPU time and the size of lists of 10,000 widgets of 1.1 KB,
// uncompressed and compressed, without a network.
func BenchmarkList(b *testing.B) {
	storage := memory.New("spec.node")
	for n := range 10_000 {
		if _, err := storage.Create(b.Context(), benchWidget(n)); err != nil {
			b.Fatal(err)
		}
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- cache.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	if err := cache.WaitReady(b.Context()); err != nil {
		b.Fatal(err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource,
		Kind:                 "Widget", Namespaced: true, Fields: []string{"spec.node"}, Cache: cache,
	}}})
	if err != nil {
		b.Fatal(err)
	}
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			req := httptest.NewRequest(http.MethodGet, widgets, nil)
			req.Header.Set("Accept-Encoding", encoding)
			size, before := 0, cpuTime(b)
			for b.Loop() {
				answer := &discardingWriter{header: http.Header{}}
				handler.ServeHTTP(answer, req)
				if got := answer.header.Get("Content-Encoding") == "gzip"; got != (encoding == "gzip") {
					b.Fatalf("Accept-Encoding: %s: the answer has the header %v", encoding, answer.header)
				}
				size = answer.size
			}
			b.ReportMetric((cpuTime(b)-before)/float64(b.N), "cpu-ms/list")
			b.ReportMetric(float64(size), "B/list")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// benchWidget returns a widget's JSON. It compresses like an object of a cluster: managedFields
// repeat, uids and addresses don't.
func benchWidget(n int) []byte {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	text := `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"annotations":{"example.dev/owner":"team-of-NAMESPACE"},` +
		`"creationTimestamp":"2026-01-02T03:04:05Z","generation":1,"labels":{"app.kubernetes.io/managed-by":"widget-operator","app.kubernetes.io/name":"widget"},` +
		`"managedFields":[{"apiVersion":"samples.dev/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:example.dev/owner":{}},` +
		`"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{}}},"f:spec":{".":{},"f:backends":{},"f:node":{}}},` +
		`"manager":"widget-operator","operation":"Update","time":"2026-01-02T03:04:05Z"}],"name":"NAME","namespace":"NAMESPACE","uid":"UID"},` +
		`"spec":{"backends":[{"name":"NAME-blue","port":8080,"protocol":"TCP","weight":90},{"name":"NAME-green","port":8080,"protocol":"TCP","weight":10}],"node":"NODE"},` +
		`"status":{"address":"ADDRESS","conditions":[{"lastTransitionTime":"2026-01-02T03:04:06Z","message":"all backends answer","reason":"Checked","status":"True","type":"Ready"}]}}`
	return []byte(strings.NewReplacer(
		"NAMESPACE", fmt.Sprint("ns", n%10),
		"NAME", fmt.Sprintf("widget-%06d", n),
		"UID", fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.Uint32N(1<<16), random.Uint32N(1<<12), random.Uint32N(1<<12), random.Uint64N(1<<48)),
		"NODE", fmt.Sprint("node-", n%200),
		"ADDRESS", fmt.Sprintf("10.%d.%d.%d", random.Uint32N(256), random.Uint32N(256), random.Uint32N(256)),
	).Replace(text))
}

// discardingWriter is a ResponseWriter that keeps only the header and the size.
type discardingWriter struct {
	header http.Header
	size   int
}

func (d *discardingWriter) Header() http.Header { return d.header }
func (d *discardingWriter) WriteHeader(int)     {}
func (d *discardingWriter) Write(p []byte) (int, error) {
	d.size += len(p)
	return len(p), nil
}

// cpuTime returns the process's CPU time in milliseconds.
func cpuTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}
