// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// similarDeployment returns one of many similar Deployments, of ten applications, with one to three
// replicas.
func similarDeployment(i int) *appsv1.Deployment {
	app := map[string]string{"app": fmt.Sprint("app-", i%10), "tier": "backend"}
	surge, unavailable := intstr.FromInt32(1), intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("deployment-", i), Labels: app},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(i%3 + 1)),
			RevisionHistoryLimit: new(int32(10)),
			Selector:             &metav1.LabelSelector{MatchLabels: app},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec: corev1.PodSpec{
					AutomountServiceAccountToken: new(true),
					RuntimeClassName:             new(fmt.Sprint("class-", i%2)),
					SecurityContext:              &corev1.PodSecurityContext{RunAsUser: new(int64(1000)), FSGroup: new(int64(2000))},
					Tolerations:                  []corev1.Toleration{{Key: "down", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}},
					Containers: []corev1.Container{{
						Name: "main", Image: fmt.Sprint("registry.example/app:", i%10), Args: []string{"serve", "--port", "8080"},
						Env: []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "APP", Value: fmt.Sprint(i % 10)}},
						Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
							corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
						LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}},
					}},
				},
			},
		},
	}
}

// mutations are changes that a program makes to a cached object by mistake.
var mutations = []struct {
	what string
	do   func(d *appsv1.Deployment)
}{
	{"writes through a pointer to a number", func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 }},
	{"writes through a pointer to a boolean", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.AutomountServiceAccountToken = false }},
	{"writes through a pointer to a string", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.RuntimeClassName = "mine" }},
	{"writes a new entry of a map", func(d *appsv1.Deployment) { d.Labels["mine"] = "yes" }},
	{"writes an existing entry of a map", func(d *appsv1.Deployment) { d.Spec.Template.Labels["tier"] = "mine" }},
	{"deletes an entry of a map", func(d *appsv1.Deployment) { delete(d.Spec.Selector.MatchLabels, "tier") }},
	{"writes an entry of a map of structs", func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("9")
	}},
	{"writes a field of an element", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "mine" }},
	{"writes an element of a slice in an element", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "debug" }},
	{"writes a field of a struct behind two pointers", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].LivenessProbe.HTTPGet.Path = "/" }},
	{"writes a field of a struct behind a pointer", func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate.MaxSurge.IntVal = 7 }},
	{"sets a pointer in a struct behind a pointer", func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate.MaxUnavailable = nil }},
	{"writes through a pointer in an element", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.Tolerations[0].TolerationSeconds = 1 }},
	{"writes through a pointer in a struct behind a pointer", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.SecurityContext.FSGroup = 0 }},
	{"appends over existing elements", func(d *appsv1.Deployment) {
		args := d.Spec.Template.Spec.Containers[0].Args
		_ = append(args[:1], "--mine")
	}},
	{"appends to a slice", func(d *appsv1.Deployment) {
		args := d.Spec.Template.Spec.Containers[0].Args
		_ = append(args, "--mine") // in a new array: there is no spare capacity
	}},
}

// sharingRig is an informer of n similar Deployments, with the expected objects.
type sharingRig struct {
	t      *testing.T
	n      int
	server *sourcetest.Server
	all    *sourcetest.Collection[*appsv1.Deployment]
	cache  *informer.SharedIndexInformer[*appsv1.Deployment]
	want   [30]*appsv1.Deployment // the following objects repeat these
}

// mutated is the number of the Deployment that mutations change.
const mutated = 100

// newSharingRig starts an informer, which stops when the bubble ends.
func newSharingRig(t *testing.T, n int, opts ...informer.Option) *sharingRig {
	a := &sharingRig{t: t, n: n, server: sourcetest.New()}
	a.all = sourcetest.Serve[*appsv1.Deployment](a.server, deploymentResource, "Deployment")
	for i := range a.want {
		a.want[i] = similarDeployment(i)
	}
	for i := range n {
		a.all.Create(similarDeployment(i))
	}
	client, err := source.NewClient(a.server.Config())
	noError(t, err)
	factory := factories.New(client, opts...)
	a.cache = factories.For[*appsv1.Deployment](factory, deploymentResource)
	noError(t, factory.Start(t.Context()))
	t.Cleanup(func() { factory.Shutdown(context.Background()) })
	noError(t, factory.WaitForCacheSync(t.Context()))
	return a
}

// mutate changes a cached object, a second before the server's next change.
func (a *sharingRig) mutate(do func(*appsv1.Deployment)) {
	time.Sleep(time.Second)
	obj, _ := a.cache.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: fmt.Sprint("deployment-", mutated)})
	do(obj)
	time.Sleep(time.Second)
}

// damaged counts the Deployments from..to that differ from the server's, except the mutated one.
func (a *sharingRig) damaged(from, to int) (n int) {
	synctest.Wait()
	have := a.cache.Store().Snapshot()
	for i := from; i < to; i++ {
		want := a.want[i%len(a.want)]
		got, ok := have.Get(object.Key{Namespace: "shop", Name: fmt.Sprint("deployment-", i)})
		if i != mutated && (!ok || !equality.Semantic.DeepEqual(got.Labels, want.Labels) || !equality.Semantic.DeepEqual(got.Spec, want.Spec)) {
			n++
		}
	}
	return n
}

// relist makes the informer list all objects again.
func (a *sharingRig) relist() {
	before := len(a.server.Requests())
	defer a.server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Refuse(410)})()
	a.server.EndWatches()
	time.Sleep(time.Minute)
	if len(a.server.Requests()) < before+2 {
		a.t.Error("the informer has not listed")
	}
}

var transformed = informer.WithTransform(func(obj object.Object) (object.Object, error) { return obj, nil })

// TestPromise10ServerRepairsMutatedSharedParts makes each mutation in one of many cached objects.
// No other object is damaged once the server has sent it again, in a list at the same version, or
// in an event. New objects are not damaged either.
func TestPromise10ServerRepairsMutatedSharedParts(t *testing.T) {
	const events = 200 // including mutated
	for _, tc := range []struct {
		name string
		many int
		opt  informer.Option
	}{
		{"JSON", 300, informer.WithFormats(source.JSON)},
		{"protobuf", 200, informer.WithFormats(source.Protobuf)},
		{"transformed", 200, transformed},
	} {
		for _, m := range mutations {
			inBubble(t, tc.name+"/"+m.what, func(t *testing.T) {
				n := tc.many
				a := newSharingRig(t, n, tc.opt)
				none := func(when string, from, to int) {
					t.Helper()
					if damaged := a.damaged(from, to); damaged > 0 {
						t.Errorf("%s: %d of %d other objects are damaged", when, damaged, to-from)
					}
				}
				a.mutate(m.do)
				t.Logf("before a list: %d of %d other objects are damaged", a.damaged(0, n), n-1)
				a.relist()
				none("after a list", 0, n)
				a.mutate(m.do)
				for i := n; i < n+events; i++ {
					a.all.Create(similarDeployment(i))
				}
				none("new objects", n, n+events)
				for i := range events {
					a.all.Update(similarDeployment(i))
				}
				none("after an event of each", 0, events)
			})
		}
	}
}

// TestWithoutSharingMutationsStayLocal makes all mutations in one of many cached objects. No other
// object changes.
func TestWithoutSharingMutationsStayLocal(t *testing.T) {
	for what, opt := range map[string]informer.Option{
		"JSON":        informer.WithFormats(source.JSON),
		"protobuf":    informer.WithFormats(source.Protobuf),
		"transformed": transformed,
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newSharingRig(t, 200, opt, informer.WithoutSharing())
			for _, m := range mutations {
				a.mutate(m.do)
			}
			if n := a.damaged(0, a.n); n > 0 {
				t.Errorf("%s: %d of 199 other objects are damaged", what, n)
			}
		})
	}
}
