// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/protobuf"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

const patience = 2 * time.Minute

// TestInformersBehindTheHandler has informers of this module and of client-go read Pods through a
// handler, while the Pods change, connections break and the server forgets its history. At the end
// all have what the server has.
func TestInformersBehindTheHandler(t *testing.T) {
	t.Parallel() // reconnecting informers wait
	for format, schema := range map[string]protobuf.Schema{"json": nil, "protobuf": protobuf.BuiltIn(corev1.SchemeGroupVersion.WithKind("Pod"))} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			testInformers(t, schema)
		})
	}
}

func testInformers(t *testing.T, schema protobuf.Schema) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	api := sourcetest.New()
	served := sourcetest.Serve[*corev1.Pod](api, pods, "Pod", "spec.nodeName")
	play(served, 50)
	handler := servePods(ctx, t, api, schema)
	server := httptest.NewUnstartedServer(handler)
	connections := &breakable{Listener: server.Listener}
	server.Listener = connections
	server.Start()
	defer func() {
		stop() // Close waits for the watches
		server.Close()
	}()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	config := &rest.Config{Host: server.URL, QPS: -1, Transport: transport}
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"

	type contents = map[string]string // of an informer: keys and versions
	readers := map[string]func() contents{}
	for _, node := range []string{"", "n1"} {
		readers["informer-gen "+node] = runOurs(ctx, t, config, node)
		readers["client-go "+node] = runTheirs(ctx, t, config, node)
	}
	for round := range 5 {
		play(served, 100)
		switch round {
		case 1, 3:
			connections.breakAll()
		case 2:
			api.EndWatches()
			play(served, 20)
			api.Compact()
		}
		want := map[string]contents{"": {}, "n1": {}}
		for _, pod := range served.All() {
			key := pod.Namespace + "/" + pod.Name
			want[""][key] = pod.ResourceVersion
			if pod.Spec.NodeName == "n1" {
				want["n1"][key] = pod.ResourceVersion
			}
		}
		for name, read := range readers {
			node := ""
			if name[len(name)-1] == '1' {
				node = "n1"
			}
			// What an informer has can only be polled.
			began := time.Now()
			for !maps.Equal(read(), want[node]) {
				if time.Since(began) > patience {
					t.Fatalf("round %d: %s has %v, want %v", round, name, read(), want[node])
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

// breakable is a listener whose connections can be broken, also those that the handler has taken
// over.
type breakable struct {
	net.Listener
	mu   sync.Mutex // mu guards what follows
	open []net.Conn
}

func (b *breakable) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = append(b.open, conn)
	return conn, nil
}

func (b *breakable) breakAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.open {
		conn.Close()
	}
	b.open = nil
}

// play makes random changes to Pods.
func play(served *sourcetest.Collection[*corev1.Pod], changes int) {
	for range changes {
		namespace, name := fmt.Sprint("ns-", rand.N(3)), fmt.Sprint("pod-", rand.N(20))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{NodeName: fmt.Sprint("n", rand.N(3))}}
		switch _, exists := served.Get(namespace, name); {
		case !exists:
			served.Create(pod)
		case rand.N(3) == 0:
			served.Delete(namespace, name)
		default:
			served.Update(pod)
		}
	}
}

// servePods returns a handler over a cache of the Pods of an API server, which runs until ctx ends.
func servePods(ctx context.Context, t *testing.T, api *sourcetest.Server, schema protobuf.Schema) *serve.Handler {
	t.Helper()
	client, err := source.NewClient(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	storage, err := upstream.New(client, pods, upstream.Options{Kind: "Pod", Fields: []string{"spec.nodeName"}, Protobuf: schema})
	if err != nil {
		t.Fatal(err)
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage, Retry: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() { _ = cache.Run(ctx) }) // the cause of ctx
	if err := cache.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: pods, Kind: "Pod", Namespaced: true, Fields: []string{"spec.nodeName"}, Cache: cache, Protobuf: schema != nil,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// untilEnd runs f, which must end before the test does.
func untilEnd(t *testing.T, f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	t.Cleanup(func() { <-ended })
}

// selector returns the field selector of the Pods on a node, or of all for "".
func selector(node string) string {
	if node == "" {
		return ""
	}
	return "spec.nodeName=" + node
}

func runOurs(ctx context.Context, t *testing.T, config *rest.Config, node string) func() map[string]string {
	t.Helper()
	client, err := source.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New[*corev1.Pod](client, pods, source.Options{FieldSelector: selector(node)})
	if err != nil {
		t.Fatal(err)
	}
	i, err := informer.New(src)
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() { _ = i.Run(ctx) }) // the cause of ctx
	return func() map[string]string {
		versions := map[string]string{}
		for pod := range i.Store().Snapshot().All() {
			versions[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
		}
		return versions
	}
}

func runTheirs(ctx context.Context, t *testing.T, config *rest.Config, node string) func() map[string]string {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tweak := informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = selector(node) })
	i := informers.NewSharedInformerFactoryWithOptions(client, 0, tweak).Core().V1().Pods().Informer()
	// Connections break here; that need not be logged.
	if err := i.SetWatchErrorHandler(func(*clientcache.Reflector, error) {}); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() { i.Run(ctx.Done()) })
	return func() map[string]string {
		versions := map[string]string{}
		for _, obj := range i.GetStore().List() {
			pod := obj.(*corev1.Pod)
			versions[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
		}
		return versions
	}
}
