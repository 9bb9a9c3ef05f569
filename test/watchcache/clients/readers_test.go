// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"maps"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// contents are the versions of Pods by namespace and name.
type contents map[string]string

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// reader runs an informer of the Pods selected by a field selector until ctx ends. It returns a
// function for the informer's contents.
type reader func(ctx context.Context, t *testing.T, to *rest.Config, selector string) func() contents

// readers are the informers, by project.
var readers = map[string]reader{
	"client-go":          clientGo,
	"controller-runtime": controllerRuntime,
	"informer-gen":       informerGen,
}

// untilEnd runs f, which must end before the test does.
func untilEnd(t *testing.T, f func()) {
	var running sync.WaitGroup
	running.Go(f)
	t.Cleanup(running.Wait)
}

func informerGen(ctx context.Context, t *testing.T, to *rest.Config, selector string) func() contents {
	t.Helper()
	client, err := source.NewClient(to)
	if err != nil {
		t.Fatal(err)
	}
	src, err := source.New[*corev1.Pod](client, pods, source.Options{FieldSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	i, err := informer.New(src)
	if err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() { _ = i.Run(ctx) }) // its error is the cause of ctx
	return func() contents {
		c := contents{}
		for pod := range i.Store().Snapshot().All() {
			c[keyOf(pod)] = pod.ResourceVersion
		}
		return c
	}
}

func clientGo(ctx context.Context, t *testing.T, to *rest.Config, selector string) func() contents {
	t.Helper()
	client, err := kubernetes.NewForConfig(to)
	if err != nil {
		t.Fatal(err)
	}
	tweak := informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = selector })
	i := informers.NewSharedInformerFactoryWithOptions(client, 0, tweak).Core().V1().Pods().Informer()
	if err := i.SetWatchErrorHandler(func(*clientcache.Reflector, error) {}); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() { i.Run(ctx.Done()) })
	return func() contents {
		c := contents{}
		for _, obj := range i.GetStore().List() {
			pod := obj.(*corev1.Pod)
			c[keyOf(pod)] = pod.ResourceVersion
		}
		return c
	}
}

// controllerRuntime runs a manager with a controller, which records the Pods it reconciles.
func controllerRuntime(ctx context.Context, t *testing.T, to *rest.Config, selector string) func() contents {
	t.Helper()
	opts := ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	if selector != "" {
		opts.Cache = cache.Options{DefaultFieldSelector: mustParse(t, selector)}
	}
	mgr, err := ctrl.NewManager(to, opts)
	if err != nil {
		t.Fatal(err)
	}
	n := &podReconciler{mgr: mgr, seen: contents{}}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(n); err != nil {
		t.Fatal(err)
	}
	untilEnd(t, func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	return n.contents
}

// podReconciler records Pods: it follows the manager's cache.
type podReconciler struct {
	mgr ctrl.Manager

	mu   sync.Mutex // mu guards seen
	seen contents
}

// Reconcile implements [reconcile.Reconciler].
func (n *podReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	err := n.mgr.GetClient().Get(ctx, req.NamespacedName, &pod)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil:
		n.seen[req.String()] = pod.ResourceVersion
	case apierrors.IsNotFound(err):
		delete(n.seen, req.String())
	default:
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, nil
}

func (n *podReconciler) contents() contents {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.seen)
}
