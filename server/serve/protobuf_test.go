// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

const protobufType = "application/vnd.kubernetes.protobuf"

// newPods serves two Pods in protobuf.
func newPods(t *testing.T) (*sourcetest.Collection[*corev1.Pod], *rest.Config) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	api := sourcetest.New()
	served := sourcetest.Serve[*corev1.Pod](api, pods, "Pod", "spec.nodeName")
	for i := range 2 {
		served.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint("p", i)}, Spec: corev1.PodSpec{NodeName: "n"}})
	}
	server := httptest.NewServer(servePods(ctx, t, api))
	transport := &http.Transport{}
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		server.Close()
	})
	return served, &rest.Config{Host: server.URL, Transport: transport, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: protobufType}}
}

// servePods returns a handler over a protobuf cache of an API server's Pods. The cache runs until
// ctx ends.
func servePods(ctx context.Context, t *testing.T, api *sourcetest.Server) *serve.Handler {
	t.Helper()
	client, err := source.NewClient(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	storage, err := upstream.New(client, pods, upstream.Options{Kind: "Pod", Fields: []string{"spec.nodeName"}, Protobuf: protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage, Retry: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	running.Go(func() { _ = cache.Run(ctx) }) // the cause of ctx
	if err := cache.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: pods, Kind: "Pod", Namespaced: true, Fields: []string{"spec.nodeName"}, Cache: cache, Protobuf: true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// TestProtobuf reads Pods with client-go's typed client.
func TestProtobuf(t *testing.T) {
	served, config := newPods(t)
	clients := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("a")
	one, err := clients.Get(t.Context(), "p1", metav1.GetOptions{})
	if err != nil || one.Name != "p1" || one.Spec.NodeName != "n" {
		t.Errorf("Get(p1) = %v, %v", one, err)
	}
	if _, err := clients.Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get(none) returned %v, want NotFound", err)
	}
	list, err := clients.List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Items[0].Spec.NodeName != "n" || list.Continue == "" || *list.RemainingItemCount != 1 {
		t.Errorf("List with limit 1 = %v, %v; want one Pod, and one remaining", list, err)
	}
	changes, err := clients.Watch(t.Context(), metav1.ListOptions{AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	for _, want := range []string{"ADDED p0", "ADDED p1", "BOOKMARK "} {
		e := <-changes.ResultChan()
		if pod, ok := e.Object.(*corev1.Pod); !ok || fmt.Sprint(e.Type, " ", pod.Name) != want {
			t.Errorf("the watch got %v, want %s", e, want)
		}
	}
	served.Delete("a", "p0")
	e := <-changes.ResultChan()
	if pod, ok := e.Object.(*corev1.Pod); !ok || e.Type != watch.Deleted || pod.Name != "p0" || pod.ResourceVersion == one.ResourceVersion {
		t.Errorf("the watch got %v, want DELETED p0", e)
	}
	late, err := clients.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Stop()
	if e := <-late.ResultChan(); e.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
		t.Errorf("the watch from an old version got %v, want an Expired error", e)
	}
}

func TestMetadataInProtobuf(t *testing.T) {
	_, config := newPods(t)
	client := metadata.NewForConfigOrDie(config).Resource(pods).Namespace("a")
	one, err := client.Get(t.Context(), "p1", metav1.GetOptions{})
	if err != nil || one.Name != "p1" {
		t.Errorf("Get(p1) = %v, %v", one, err)
	}
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 || list.Items[1].Name != "p1" {
		t.Errorf("List() = %v, %v; want p0 and p1", list, err)
	}
	changes, err := client.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	if e := <-changes.ResultChan(); e.Type != watch.Added || e.Object.(*metav1.PartialObjectMetadata).Name != "p0" {
		t.Errorf("the watch got %v, want ADDED p0", e)
	}
}

// TestEncodingsAreNotConverted shows that a protobuf resource refuses clients that accept only
// JSON.
func TestEncodingsAreNotConverted(t *testing.T) {
	_, config := newPods(t)
	for path, accepted := range map[string]string{"/api/v1/pods": protobufType, "/api/v1/namespaces/a/pods/p0": protobufType + ";as=Table;v=v1;g=meta.k8s.io," + protobufType} {
		for accept, want := range map[string]int{"application/json": http.StatusNotAcceptable, "application/json," + protobufType: http.StatusOK, accepted: http.StatusOK, "": http.StatusOK} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", accept)
			resp, err := (&http.Client{Transport: config.Transport}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			raw := body(t, resp)
			resp.Body.Close()
			isProtobuf := resp.Header.Get("Content-Type") == protobufType && strings.HasPrefix(raw, "k8s\x00")
			if resp.StatusCode != want || isProtobuf != (want == http.StatusOK) {
				t.Errorf("%s, Accept: %s: got %s, %s; want %d", path, accept, resp.Status, resp.Header.Get("Content-Type"), want)
			}
		}
	}
}
