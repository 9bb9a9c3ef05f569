// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/internal/shard"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// shardCounter counts requests that name a shard.
type shardCounter struct {
	http.Handler
	requests chan string
}

func (c *shardCounter) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if strings.Contains(req.URL.RawQuery, "shard") {
		select {
		case c.requests <- req.URL.String():
		default:
		}
	}
	c.Handler.ServeHTTP(w, req)
}

// TestShards has a relay serve shards of up to 400 namespaces, before an API server that ignores
// shard selectors, and isn't sent any.
func TestShards(t *testing.T) {
	s := newAPIServer(t, "ann watch pods in", "ann list pods in", "ann watch nodes in", "ann list nodes in")
	asked := &shardCounter{s.Config.Handler, make(chan string, 1)}
	s.Config.Handler = asked
	for n := range 12 {
		s.pods.Create(pod(fmt.Sprintf("team-%03d", n), "web"))
	}
	for _, protobuf := range []bool{false, true} {
		r := s.start(t, configOf(t, fmt.Sprintf(`
	listen: {address: 127.0.0.1:0}
	access: {mode: SelfSubjectAccessReview}
	resources: [{version: v1, resource: pods, protobuf: %v}]
	shutdown: {delay: 0s, period: 0s}`, protobuf)))
		r.await(t)
		reader, err := source.NewClient(&rest.Config{Host: r.url, Transport: client(t).Transport, BearerToken: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.New[*corev1.Pod](reader, corev1.SchemeGroupVersion.WithResource("pods"), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for namespaces, want := range map[int]int{0: 0, 1: 1, 5: 5, 400: 12} {
			checkShard(t, src, namespaces, want)
		}
	}
	select {
	case url := <-asked.requests:
		t.Errorf("the relay asked the API server for %s", url)
	default:
	}
}

func checkShard(t *testing.T, src *source.HTTP[*corev1.Pod], namespaces, want int) {
	t.Helper()
	var names []string
	for n := range namespaces {
		names = append(names, fmt.Sprintf("team-%03d", n))
	}
	selector := shard.ByNamespace(names...)
	received := 0
	result, err := src.List(t.Context(), source.ListOptions{ShardSelector: selector}, func(*corev1.Pod) error { received++; return nil })
	if err != nil || received != want || result.Skipped != 0 || !result.Sharded {
		t.Errorf("%d namespaces: got %d Pods and %+v, %v; want the server to send %d", namespaces, received, result, err, want)
	}
}
