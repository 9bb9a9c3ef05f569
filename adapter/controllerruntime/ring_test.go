// SPDX-License-Identifier: Apache-2.0

package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// objects is their number: so large that no replica gets all by chance.
const objects = 32

// replica is a manager with a ring. Its reconciles write the replica's name into a ConfigMap.
type replica struct {
	name   string
	ring   *shard.Ring
	client client.Client
	cancel context.CancelFunc
	ended  chan error

	mu      sync.Mutex // mu guards the fields below
	claimed map[string]context.Context
	epochs  map[string]uint64
}

func startReplica(t *testing.T, config *rest.Config, name string, by shard.By) *replica {
	t.Helper()
	p := &replica{name: name, ended: make(chan error, 1), claimed: map[string]context.Context{}, epochs: map[string]uint64{}}
	var err error
	p.ring, err = shard.New(config, shard.Options{Namespace: "shop", Name: "maps", Identity: name, By: by})
	if err != nil {
		t.Fatal(err)
	}
	ring := controllerruntime.NewRing(p.ring, &corev1.Pod{})
	opts := options()
	opts.Scheme, opts.NewCache, opts.NewClient = scheme.Scheme, ring.NewCache, ring.NewClient
	// The priority queue of v0.23 and v0.24 may leave a goroutine at its end.
	opts.Controller.UsePriorityQueue = new(bool)
	opts.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
		mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
		return mapper, nil
	}
	mgr, err := manager.New(config, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(ring); err != nil {
		t.Fatal(err)
	}
	p.client = mgr.GetClient()
	work := ring.Reconciler(&corev1.ConfigMap{}, p)
	if err := builder.ControllerManagedBy(mgr).For(&corev1.ConfigMap{}).WatchesRawSource(work).Complete(work); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	go func() { p.ended <- mgr.Start(ctx) }()
	return p
}

func (p *replica) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var m corev1.ConfigMap
	if err := p.client.Get(ctx, request.NamespacedName, &m); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pods corev1.PodList // which are read whole
	if err := p.client.List(ctx, &pods); err != nil || len(pods.Items) != objects {
		return reconcile.Result{}, fmt.Errorf("%d Pods, %w", len(pods.Items), err)
	}
	p.mu.Lock()
	p.claimed[request.String()] = context.WithoutCancel(ctx)
	p.epochs[request.String()], _ = shard.EpochOf(ctx)
	p.mu.Unlock()
	m.Data = map[string]string{"replica": p.name}
	return reconcile.Result{}, p.client.Update(ctx, &m)
}

func (p *replica) epochOf(key string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epochs[key]
}

// TestRing divides ConfigMaps between the controllers of two managers. One joins, and one leaves.
func TestRing(t *testing.T) {
	for _, by := range []shard.By{shard.ByNamespace, shard.ByKey, shard.ByUID} {
		t.Run(by.String(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testRing(t, by) }) })
	}
}

func testRing(t *testing.T, by shard.By) {
	server := sourcetest.New()
	sourcetest.Serve[*coordinationv1.Lease](server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "Lease")
	maps := sourcetest.Serve[*corev1.ConfigMap](server, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap")
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	var all []*corev1.ConfigMap
	for n := range objects {
		at := metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", n), Name: "settings"}
		pods.Create(&corev1.Pod{ObjectMeta: at})
		all = append(all, maps.Create(&corev1.ConfigMap{ObjectMeta: at}))
	}
	workers := func() map[string]int {
		count := map[string]int{}
		for _, m := range all {
			now, _ := maps.Get(m.Namespace, m.Name)
			count[now.Data["replica"]]++
		}
		return count
	}
	keyOf := func(m *corev1.ConfigMap) string { return m.Namespace + "/" + m.Name }

	a := startReplica(t, server.Config(), "a", by)
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if got := workers(); got["a"] != objects {
		t.Fatalf("of one replica: %v", got)
	}
	b := startReplica(t, server.Config(), "b", by)
	time.Sleep(20 * time.Second)
	synctest.Wait()
	got := workers()
	// The server's UIDs differ at their end only, and so are in one range of hashes.
	if got["a"]+got["b"] != objects || by != shard.ByUID && (got["a"] == 0 || got["b"] == 0) {
		t.Fatalf("of two replicas: %v", got)
	}

	// Each new state is seen by its owner only, and a has b's objects no more.
	for _, m := range all {
		now, _ := maps.Get(m.Namespace, m.Name)
		was := now.Data["replica"]
		var cached corev1.ConfigMap
		if err := a.client.Get(t.Context(), client.ObjectKeyFromObject(m), &cached); (err == nil) != (was == "a") {
			t.Errorf("the cache of a, for %s of %s: %v", keyOf(m), was, err)
		}
		if was == "b" {
			// a has reconciled it, at an epoch that is over.
			err := a.client.Update(a.claimed[keyOf(m)], now)
			if !errors.Is(err, shard.ErrNotOwned) {
				t.Errorf("a write of a foreign object: %v", err)
			}
			if e := b.epochOf(keyOf(m)); e <= a.epochOf(keyOf(m)) {
				t.Errorf("epoch %d after epoch %d", e, a.epochOf(keyOf(m)))
			}
		}
		changed := now.DeepCopy()
		changed.Data = nil
		maps.Update(changed)
		synctest.Wait()
		time.Sleep(time.Second)
		if now, _ = maps.Get(m.Namespace, m.Name); now.Data["replica"] != was {
			t.Errorf("%s of %s was reconciled by %q", keyOf(m), was, now.Data["replica"])
		}
	}

	a.cancel()
	if err := <-a.ended; err != nil {
		t.Errorf("a has left: %v", err)
	}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	if got := workers(); got["b"] != objects {
		t.Errorf("after a has left: %v", got)
	}

	// A replica that is cut off ends its manager.
	defer b.cancel()
	defer server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(errors.New("no network"))})()
	if err := <-b.ended; !errors.Is(err, shard.ErrLost) {
		t.Errorf("b is cut off: %v", err)
	}
	time.Sleep(time.Second) // client-go's queues look for their end now and then
}
