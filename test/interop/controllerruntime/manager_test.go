// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// newManager makes a manager with connections of its own.
func newManager(t *testing.T, to *rest.Config, newCache cache.NewCacheFunc, change func(*ctrl.Options), through ...func(http.RoundTripper) http.RoundTripper) ctrl.Manager {
	t.Helper()
	opts := ctrl.Options{
		NewCache:   newCache,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	}
	if change != nil {
		change(&opts)
	}
	to = rest.CopyConfig(to)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	to.Transport = transport
	for _, f := range through {
		to.Wrap(f)
	}
	mgr, err := ctrl.NewManager(to, opts)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// runManager runs a manager until the test ends or end is called.
func runManager(t *testing.T, mgr ctrl.Manager) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	var err error
	done := false
	end = func() error {
		if !done {
			cancel()
			err, done = <-ended, true
		}
		return err
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	return end
}

// summary is a controller that writes a ConfigMap for each Deployment. It sums up the Deployment,
// its ConfigMaps, Nodes, and the metadata of Secrets.
type summary struct{ client.Client }

const ownerField = "owner"

func owners(obj client.Object) []string {
	var names []string
	for _, owner := range obj.GetOwnerReferences() {
		names = append(names, owner.Name)
	}
	return names
}

func (s *summary) setUp(mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.ConfigMap{}, ownerField, owners); err != nil {
		return err
	}
	all := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		var list appsv1.DeploymentList
		if err := s.List(ctx, &list, client.InNamespace(obj.GetNamespace())); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for _, d := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&d)})
		}
		return requests
	})
	return ctrl.NewControllerManagedBy(mgr).
		For(&appsv1.Deployment{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.Node{}, all).
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Named("summary").
		Complete(s)
}

// Reconcile implements reconcile.Reconciler.
func (s *summary) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var d appsv1.Deployment
	if err := s.Get(ctx, request.NamespacedName, &d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var nodes corev1.NodeList
	if err := s.List(ctx, &nodes); err != nil {
		return reconcile.Result{}, err
	}
	secrets := metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := s.List(ctx, &secrets, client.InNamespace(d.Namespace)); err != nil {
		return reconcile.Result{}, err
	}
	var owned corev1.ConfigMapList
	if err := s.List(ctx, &owned, client.InNamespace(d.Namespace), client.MatchingFields{ownerField: d.Name}); err != nil {
		return reconcile.Result{}, err
	}
	want := fmt.Sprintf("%d nodes, %d secrets, %d replicas", len(nodes.Items), len(secrets.Items), *d.Spec.Replicas)
	if len(owned.Items) == 0 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}, Data: map[string]string{"seen": want}}
		if err := ctrl.SetControllerReference(&d, cm, s.Scheme()); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, s.Create(ctx, cm)
	}
	if owned.Items[0].Data["seen"] != want {
		owned.Items[0].Data = map[string]string{"seen": want}
		return reconcile.Result{}, s.Update(ctx, &owned.Items[0])
	}
	if d.Status.ObservedGeneration != d.Generation {
		d.Status.ObservedGeneration = d.Generation
		return reconcile.Result{}, s.Status().Update(ctx, &d)
	}
	return reconcile.Result{}, nil
}

// TestManager: controllers of controller-runtime work, with and without waiting for their own
// writes.
func TestManager(t *testing.T) {
	for _, consistent := range []bool{false, true} {
		t.Run(fmt.Sprintf("reads its own writes %t", consistent), func(t *testing.T) {
			bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
				own := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
				testManager(t, own, consistent, func(change func(*ctrl.Options)) ctrl.Manager {
					return newManager(t, own.Config(), newCache, change)
				})
			})
		})
	}
}

func testManager(t *testing.T, own *devserver.Server, consistent bool, newOne func(change func(*ctrl.Options)) ctrl.Manager) {
	writer := newClientOf(t, own)
	mgr := newOne(func(o *ctrl.Options) {
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: &consistent}
	})
	if err := (&summary{mgr.GetClient()}).setUp(mgr); err != nil {
		t.Fatal(err)
	}
	create := func(obj client.Object) {
		t.Helper()
		if err := writer.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	d := deployment("default", "shop")
	create(d)
	end := runManager(t, mgr)
	seen := func(want string) {
		t.Helper()
		poll.Until(t, func() error {
			var cm corev1.ConfigMap
			if err := writer.Get(t.Context(), key("default", "shop"), &cm); err != nil {
				return err
			}
			if cm.Data["seen"] != want {
				return fmt.Errorf("the ConfigMap has seen %s, want %s", cm.Data["seen"], want)
			}
			return nil
		})
	}
	seen("0 nodes, 0 secrets, 1 replicas")
	create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	seen("1 nodes, 0 secrets, 1 replicas")
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	seen("1 nodes, 1 secrets, 1 replicas")
	if err := writer.Get(t.Context(), key("default", "shop"), d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Replicas = ptr.To[int32](7)
	if err := writer.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	seen("1 nodes, 1 secrets, 7 replicas")
	if err := writer.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}); err != nil {
		t.Fatal(err)
	}
	seen("1 nodes, 1 secrets, 7 replicas")
	poll.Until(t, func() error {
		if err := writer.Get(t.Context(), key("default", "shop"), d); err != nil {
			return err
		}
		if d.Status.ObservedGeneration != d.Generation {
			return fmt.Errorf("the Deployment's status is of generation %d, want %d", d.Status.ObservedGeneration, d.Generation)
		}
		return nil
	})
	if consistent {
		testOwnWrites(t, mgr.GetClient())
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// testOwnWrites checks that each read sees the preceding write.
func testOwnWrites(t *testing.T, c client.Client) {
	ctx := within(t, poll.Patience)
	for i := range 20 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("own-", i)}}
		if err := c.Create(ctx, cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); err != nil {
			t.Fatalf("Get after the create: %v", err)
		}
		cm.Data = map[string]string{"i": fmt.Sprint(i)}
		if err := c.Update(ctx, cm); err != nil {
			t.Fatal(err)
		}
		var list corev1.ConfigMapList
		if err := c.List(ctx, &list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(fmt.Sprint(list.Items), fmt.Sprintf("map[i:%d]", i)) {
			t.Errorf("the list lacks update %d", i)
		}
		if err := c.Delete(ctx, cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("Get after the delete: error %v, want NotFound", err)
		}
	}
}

func deployment(namespace, name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.example/main"}}},
			},
		},
	}
}

// TestForbiddenKind: with a forbidden kind, the controllers of other kinds work, and the readiness
// check names the kind. With theirs, no controller works.
func TestForbiddenKind(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			mgr := newManager(t, server.Config(), engine.newCache, func(o *ctrl.Options) {
				o.Controller.CacheSyncTimeout = time.Hour
			}, forbid("nodes"))
			var reconciled atomic.Bool
			work := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				reconciled.Store(true)
				return reconcile.Result{}, nil
			})
			for _, kind := range []client.Object{&corev1.Pod{}, &corev1.Node{}} {
				if err := ctrl.NewControllerManagedBy(mgr).For(kind).Complete(work); err != nil {
					t.Fatal(err)
				}
			}
			runManager(t, mgr)
			c, ours := mgr.GetCache().(*controllerruntime.Cache)
			if !ours {
				<-within(t, 2*time.Second).Done()
				if reconciled.Load() {
					t.Error("theirs does not wait for the forbidden kind any more; docs/migrate.md says that it does")
				}
				return
			}
			poll.Until(t, func() error {
				if !reconciled.Load() {
					return errors.New("no Pod was reconciled")
				}
				return nil
			})
			// The other controller may not have asked for Nodes yet.
			poll.Until(t, func() error {
				if err := c.Ready(nil); err == nil || !strings.Contains(err.Error(), "nodes/v1") || !strings.Contains(err.Error(), "forbidden") {
					return fmt.Errorf("Ready: %v", err)
				}
				return nil
			})
		})
	}
}

// TestManagerCanceledBeforeSync: a manager that is canceled before its caches have synced ends at
// once. With theirs it ends only when they have.
func TestManagerCanceledBeforeSync(t *testing.T) {
	for _, test := range []struct {
		name     string
		newCache func(context.Context) cache.NewCacheFunc
		fault    func(chan struct{}) func(http.RoundTripper) http.RoundTripper
		ends     bool
	}{
		{"theirs, hanging", func(context.Context) cache.NewCacheFunc { return cache.New }, hangUntil, false},
		{"ours, hanging", controllerruntime.Until, hangUntil, true},
		{"ours, forbidden", func(context.Context) cache.NewCacheFunc { return controllerruntime.NewCache }, forbidNodes, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			release := make(chan struct{})
			mgr := newManager(t, server.Config(), test.newCache(ctx), nil, test.fault(release))
			if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- mgr.Start(ctx) }()
			time.AfterFunc(200*time.Millisecond, cancel)
			wait := poll.Patience
			if !test.ends {
				wait = 2 * time.Second
			}
			var err error
			select {
			case err = <-ended:
				if !test.ends {
					t.Error("theirs ends; docs/migrate.md says that it does not")
				}
			case <-time.After(wait):
				if test.ends {
					t.Error("the manager has not ended")
				}
				close(release)
				err = <-ended
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func forbidNodes(chan struct{}) func(http.RoundTripper) http.RoundTripper { return forbid("nodes") }

// hangUntil holds back requests for Nodes until release is closed.
func hangUntil(release chan struct{}) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/nodes") {
				select {
				case <-release:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			return next.RoundTrip(r)
		})
	}
}
