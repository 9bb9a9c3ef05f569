// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/applyconfigurations"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

// watched runs one of our informers, and returns a function for its events since the last call, in
// short.
func watched[T object.Object](t *testing.T, server *sourcetest.Server, gvr schema.GroupVersionResource) (events func() string) {
	t.Helper()
	client, err := source.NewClient(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := factories.New(client)
	var seen []string
	short := func(event string, obj T) {
		if obj.GetDeletionTimestamp() != nil {
			event += " deleted"
		}
		seen = append(seen, fmt.Sprint(event, " ", obj.GetName(), " ", obj.GetGeneration()))
	}
	if _, err := factories.For[T](factory, gvr).AddEventHandler(informer.HandlerFuncs[T]{
		AddFunc:    func(obj T, _ bool) { short("add", obj) },
		UpdateFunc: func(_, obj T) { short("update", obj) },
		DeleteFunc: func(obj informer.Deleted[T]) { short("delete", obj.Object) },
	}); err != nil {
		t.Fatal(err)
	}
	if err := factory.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = factory.Shutdown(context.Background()) })
	if err := factory.WaitForCacheSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() string {
		synctest.Wait()
		defer func() { seen = nil }()
		return strings.Join(seen, ", ")
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestClientGoWritesToSourcetest writes with client-go's typed client as controllers do, in both
// formats, while an informer watches.
func TestClientGoWritesToSourcetest(t *testing.T) {
	for _, format := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(format, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { writeTyped(t, format) }) })
	}
}

func writeTyped(t *testing.T, format string) {
	server := sourcetest.New()
	server.Patches = patches.All{TypeConverter: applyconfigurations.NewTypeConverter(scheme.Scheme)}
	gvr := appsv1.SchemeGroupVersion.WithResource("deployments")
	sourcetest.Serve[*appsv1.Deployment](server, gvr, "")
	config := server.Config()
	config.ContentType, config.QPS = format, -1
	web := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config)).AppsV1().Deployments("shop")
	events, ctx, ok := watched[*appsv1.Deployment](t, server, gvr), t.Context(), must[*appsv1.Deployment](t)
	saw := func(want string) {
		t.Helper()
		if got := events(); got != want {
			t.Errorf("the informer saw %q, want %q", got, want)
		}
	}

	stale := ok(web.Create(ctx, deployment(1), metav1.CreateOptions{}))
	if stale.UID == "" || stale.ResourceVersion == "" || stale.Generation != 1 || stale.CreationTimestamp.IsZero() {
		t.Errorf("created %+v", stale.ObjectMeta)
	}
	name := stale.Name
	if _, err := web.Create(ctx, deployment(1), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second create: error %v, want AlreadyExists", err)
	}
	next := stale.DeepCopy()
	next.Spec.Replicas = new(int32(7))
	next = ok(web.Update(ctx, next, metav1.UpdateOptions{}))
	if _, err := web.Update(ctx, stale, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a stale update: error %v, want a conflict", err)
	}
	if same := ok(web.Update(ctx, next, metav1.UpdateOptions{})); same.ResourceVersion != next.ResourceVersion || same.Generation != 2 {
		t.Errorf("an update without a change: %+v", same.ObjectMeta)
	}
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		stale.Labels["retried"] = "yes"
		_, err := web.Update(ctx, stale, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			stale = ok(web.Get(ctx, name, metav1.GetOptions{}))
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	saw("add deployment-1 1, update deployment-1 2, update deployment-1 2")

	next = ok(web.Get(ctx, name, metav1.GetOptions{}))
	next.Spec.Replicas, next.Status.ReadyReplicas = new(int32(9)), 2
	next = ok(web.UpdateStatus(ctx, next, metav1.UpdateOptions{}))
	if *next.Spec.Replicas != 7 || next.Status.ReadyReplicas != 2 {
		t.Errorf("UpdateStatus: %+v", next)
	}
	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}]`,
		types.MergePatchType:          `{"spec":{"paused":true}}`,
		types.StrategicMergePatchType: `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"proxy"}]}}}}`,
	} {
		ok(web.Patch(ctx, name, kind, []byte(patch), metav1.PatchOptions{}))
	}
	next = ok(web.Patch(ctx, name, types.MergePatchType, []byte(`{"status":{"readyReplicas":3}}`), metav1.PatchOptions{}, "status"))
	if c := next.Spec.Template.Spec.Containers; len(c) != 2 || !next.Spec.Paused || next.Annotations["a"] != "b" || next.Status.ReadyReplicas != 3 {
		t.Errorf("patched: %+v", next)
	}
	if got := events(); strings.Count(got, "update") != 5 || !strings.HasSuffix(got, "update deployment-1 4") {
		t.Errorf("patches: the informer saw %q", got)
	}

	applied := appsac.Deployment(name, "shop").WithSpec(appsac.DeploymentSpec().WithTemplate(coreac.PodTemplateSpec().WithSpec(
		coreac.PodSpec().WithContainers(coreac.Container().WithName("third").WithImage("third")))))
	next = ok(web.Apply(ctx, applied, metav1.ApplyOptions{FieldManager: "test"}))
	var names []string
	for _, c := range next.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	if slices.Sort(names); fmt.Sprint(names) != "[main side third]" {
		t.Errorf("applied: containers %v", names)
	}
	saw("update deployment-1 5")

	ok(web.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"finalizers":["samples.io/hold"]}}`), metav1.PatchOptions{}))
	other, background := types.UID("another"), metav1.DeletePropagationBackground
	if err := web.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		t.Errorf("a delete of another UID: error %v", err)
	}
	if err := web.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &next.UID}, PropagationPolicy: &background}); err != nil {
		t.Error(err)
	}
	saw("update deployment-1 5, update deleted deployment-1 6")
	next = ok(web.Get(ctx, name, metav1.GetOptions{}))
	next.Finalizers = nil
	ok(web.Update(ctx, next, metav1.UpdateOptions{}))
	if _, err := web.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("Get of a deleted object: error %v, want NotFound", err)
	}
	saw("delete deleted deployment-1 6")

	for i := range 3 {
		ok(web.Create(ctx, deployment(i+1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
		ok(web.Create(ctx, deployment(i+1), metav1.CreateOptions{}))
	}
	if err := web.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app!=2"}); err != nil {
		t.Error(err)
	}
	if left, err := web.List(ctx, metav1.ListOptions{}); err != nil || len(left.Items) != 1 || left.Items[0].Name != "deployment-2" {
		t.Errorf("at the end: %v, error %v, want only deployment-2", left, err)
	}
	saw("add deployment-1 1, add deployment-2 1, add deployment-3 1, delete deployment-1 1, delete deployment-3 1")
}

// TestLeadersAreElectedOnSourcetest lets two candidates lead, one after the other.
func TestLeadersAreElectedOnSourcetest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		leases := sourcetest.Serve[*coordinationv1.Lease](server, coordinationv1.SchemeGroupVersion.WithResource("leases"), "")
		sourcetest.Serve[*corev1.Event](server, corev1.SchemeGroupVersion.WithResource("events"), "")
		client := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(server.Config()))
		led := make(chan string, 10) // OnStartedLeading has a goroutine of its own
		run := func(ctx context.Context, name string) (ended chan struct{}) {
			ended = make(chan struct{})
			go func() {
				defer close(ended)
				leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
					Lock: &resourcelock.LeaseLock{
						LeaseMeta: metav1.ObjectMeta{Namespace: "shop", Name: "leader"}, Client: client.CoordinationV1(),
						LockConfig: resourcelock.ResourceLockConfig{Identity: name},
					},
					LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
					Callbacks: leaderelection.LeaderCallbacks{
						OnStartedLeading: func(context.Context) { led <- name },
						OnStoppedLeading: func() {},
					},
				})
			}()
			return ended
		}
		first, endFirst := context.WithCancel(t.Context())
		one := run(first, "one")
		time.Sleep(time.Second)
		second, endSecond := context.WithCancel(t.Context())
		two := run(second, "two")
		time.Sleep(time.Hour)
		endFirst()
		<-one
		time.Sleep(10 * time.Second)
		lease, _ := leases.Get("shop", "leader")
		if a, b := <-led, <-led; *lease.Spec.HolderIdentity != "two" || a != "one" || b != "two" || len(led) > 0 {
			t.Errorf("%s and %s led; the Lease has %+v", a, b, lease.Spec)
		}
		endSecond()
		<-two
	})
}
