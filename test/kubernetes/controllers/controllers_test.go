// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"

	"github.com/informer-gen/informer-gen/test/internal/endstate"
	"github.com/informer-gen/informer-gen/test/kubernetes/endpoints/kubeserver"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // controllers log what the tests provoke
	kubeserver.Main()
	goleak.VerifyTestMain(m)
}

// TestControllers plays a scenario to each of Kubernetes' controllers, on either engine, and
// compares the API's objects after each step. All controllers run all the time. The scenarios run
// side by side, each in its own namespace.
func TestControllers(t *testing.T) {
	var clusters [2]*cluster
	for n, e := range engines {
		clusters[n] = startCluster(t, e)
	}
	for name, play := range map[string]func(*scenario){
		"deployment":        (*scenario).deployments,
		"replicaset":        (*scenario).replicaSets,
		"job":               (*scenario).jobs,
		"endpoint":          (*scenario).endpoints,
		"endpointslice":     (*scenario).endpointSlices,
		"garbage-collector": (*scenario).garbage,
		"namespace":         (*scenario).namespaces,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var states [2][][]string // by engine and step
			t.Cleanup(func() {       // after both subtests
				if !t.Failed() {
					compare(t, states)
				}
			})
			for n, c := range clusters {
				t.Run(c.engine, func(t *testing.T) {
					t.Parallel()
					s := newScenario(t, c, name)
					play(s)
					states[n] = s.states
				})
			}
		})
	}
}

func compare(t *testing.T, states [2][][]string) {
	for step := range states[0] {
		if theirs, ours := states[0][step], states[1][step]; !slices.Equal(theirs, ours) {
			t.Errorf("after step %d, the API has only with %s\n%s\nonly with %s\n%s", step+1,
				engines[0].name, endstate.Without(theirs, ours), engines[1].name, endstate.Without(ours, theirs))
		}
	}
}

// workers is the number of workers of each controller.
const workers = 5

// runControllers runs all controllers on an engine, until the test ends.
func runControllers(t *testing.T, e engine, config *rest.Config) {
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	factory, err := e.typed(config)
	if err != nil {
		t.Fatal(err)
	}
	everything, err := e.all(factory, config)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%T", factory.Core().V1().Pods().Informer()); !strings.HasPrefix(got, e.typePrefix) {
		t.Fatalf("with %s, the informer of Pods has the type %s, want %s…", e.name, got, e.typePrefix)
	}
	t.Cleanup(func() {
		cancel()
		all.Wait()
		factory.Shutdown()
		if f, ok := everything.(*metadataFactory); ok {
			f.runs.Wait()
		}
	})
	core, apps, batch := factory.Core().V1(), factory.Apps().V1(), factory.Batch().V1()
	started := make(chan struct{})

	deployments, err := deployment.NewDeploymentController(running, apps.Deployments(), apps.ReplicaSets(), core.Pods(), client)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := job.NewController(running, client, core.Pods(), batch.Jobs(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	garbage, err := garbagecollector.NewGarbageCollector(running, client, objects, mapper, garbagecollector.DefaultIgnoredResources(), everything, started)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []func(context.Context){
		func(ctx context.Context) { deployments.Run(ctx, workers) },
		func(ctx context.Context) { jobs.Run(ctx, workers) },
		func(ctx context.Context) { garbage.Run(ctx, workers, time.Minute) },
		func(ctx context.Context) { garbage.Sync(ctx, client.Discovery(), time.Second) },
		withWorkers(replicaset.NewReplicaSetController(running, apps.ReplicaSets(), core.Pods(), client, replicaset.BurstReplicas)),
		withWorkers(endpoint.NewEndpointController(running, core.Pods(), core.Services(), core.Endpoints(), client, 0)),
		withWorkers(endpointslice.NewController(running, core.Pods(), core.Services(), core.Nodes(), factory.Discovery().V1().EndpointSlices(), 100, client, 0)),
		withWorkers(namespace.NewNamespaceController(running, client, objects, client.Discovery().ServerPreferredNamespacedResources,
			core.Namespaces(), 5*time.Minute, corev1.FinalizerKubernetes)),
	} {
		all.Go(func() { run(running) })
	}
	everything.Start(running.Done())
	close(started)
}

func withWorkers(c interface{ Run(context.Context, int) }) func(context.Context) {
	return func(ctx context.Context) { c.Run(ctx, workers) }
}
