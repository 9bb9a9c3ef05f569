// SPDX-License-Identifier: Apache-2.0

package controllerruntime_test

import (
	"context"
	"fmt"
	"log"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// cluster returns a configuration for an API server in memory with a Pod on a Node.
func cluster() *rest.Config {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podResource, "Pod").Create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}, Spec: corev1.PodSpec{NodeName: "node-1"},
	})
	return server.Config()
}

// options returns manager options for the server in memory and for tests.
func options() manager.Options {
	sameName := true
	return manager.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &sameName},
		// A real server is asked which kinds it has.
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
			return mapper, nil
		},
	}
}

// An operator changes one line: NewCache, in its ctrl.Options, which are a manager.Options. Its
// controllers, index and client stay as they are.
func ExampleNewCache() {
	opts := options()
	opts.Scheme = scheme.Scheme
	opts.NewCache = controllerruntime.NewCache // the line
	mgr, err := manager.New(cluster(), opts)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = mgr.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(obj client.Object) []string {
		return []string{obj.(*corev1.Pod).Spec.NodeName}
	})
	if err != nil {
		log.Fatal(err)
	}
	err = builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(reconcile.Func(
		func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			var pod corev1.Pod
			if err := mgr.GetClient().Get(ctx, r.NamespacedName, &pod); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			var neighbours corev1.PodList
			if err := mgr.GetClient().List(ctx, &neighbours, client.MatchingFields{"spec.nodeName": pod.Spec.NodeName}); err != nil {
				return reconcile.Result{}, err
			}
			fmt.Println(r, "is one of", len(neighbours.Items), "on", pod.Spec.NodeName)
			cancel()
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mgr.Start(ctx))
	// Output:
	// shop/blue is one of 1 on node-1
	// <nil>
}

// A controller of controller-runtime on an informer of a generated factory, which the manager runs.
// The manager's own cache stays that of controller-runtime.
func ExampleSource() {
	api := cluster()
	mgr, err := manager.New(api, options())
	if err != nil {
		log.Fatal(err)
	}
	sources, err := source.NewClient(api)
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(sources)
	pods := factories.For[*corev1.Pod](factory, podResource) // factory.Core().V1().Pods()…
	if err := mgr.Add(controllerruntime.Runnable(factory)); err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	err = builder.ControllerManagedBy(mgr).Named("pods").
		WatchesRawSource(controllerruntime.Source(pods, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})).
		Complete(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			if pod, ok := pods.Store().Snapshot().Get(object.Key(r.NamespacedName)); ok {
				fmt.Println(r, "is on", pod.Spec.NodeName)
				cancel()
			}
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mgr.Start(ctx))
	// Output:
	// shop/blue is on node-1
	// <nil>
}

// Replicas of an operator share its Pods, by namespace. Each replica also reads all Nodes.
func ExampleRing() {
	api, inner := cluster(), reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		epoch, _ := shard.EpochOf(ctx)
		fmt.Println(r, "is reconciled here only, at epoch", epoch)
		return reconcile.Result{}, nil
	})
	member, err := shard.New(api, shard.Options{Namespace: "shop", Name: "pods", By: shard.ByNamespace})
	if err != nil {
		log.Fatal(err)
	}
	ring := controllerruntime.NewRing(member, &corev1.Node{})
	opts := options()
	opts.NewCache, opts.NewClient = ring.NewCache, ring.NewClient
	mgr, err := manager.New(api, opts)
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Add(ring); err != nil {
		log.Fatal(err)
	}
	work := ring.Reconciler(&corev1.Pod{}, inner)
	if err := builder.ControllerManagedBy(mgr).For(&corev1.Pod{}).WatchesRawSource(work).Complete(work); err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(context.Background()); err != nil { // shard.ErrLost: the process should end
		log.Fatal(err)
	}
}
