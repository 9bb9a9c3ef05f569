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

// alike is one of many that are alike: of ten applications, with one to three replicas.
func alike(i int) *appsv1.Deployment {
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

// mistakes are changes that a program makes to a cached object by mistake.
var mistakes = []struct {
	what string
	do   func(d *appsv1.Deployment)
}{
	{"writes through a pointer to a number", func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 }},
	{"writes through a pointer to a boolean", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.AutomountServiceAccountToken = false }},
	{"writes through a pointer to a string", func(d *appsv1.Deployment) { *d.Spec.Template.Spec.RuntimeClassName = "mine" }},
	{"writes a new entry of a map", func(d *appsv1.Deployment) { d.Labels["mine"] = "yes" }},
	{"writes an entry of a map that is there", func(d *appsv1.Deployment) { d.Spec.Template.Labels["tier"] = "mine" }},
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
	{"appends in the place of elements", func(d *appsv1.Deployment) {
		args := d.Spec.Template.Spec.Containers[0].Args
		_ = append(args[:1], "--mine")
	}},
	{"appends to a slice", func(d *appsv1.Deployment) {
		args := d.Spec.Template.Spec.Containers[0].Args
		_ = append(args, "--mine") // in another array: there is no room to spare
	}},
}

// alikes is an informer of n Deployments, and the objects that it must have.
type alikes struct {
	t      *testing.T
	n      int
	server *sourcetest.Server
	all    *sourcetest.Collection[*appsv1.Deployment]
	cache  *informer.SharedIndexInformer[*appsv1.Deployment]
	want   [30]*appsv1.Deployment // others are like one of these
}

// mistaken is the number of the Deployment that mistakes change.
const mistaken = 100

// startAlikes starts it. It stops when the bubble ends.
func startAlikes(t *testing.T, n int, opts ...informer.Option) *alikes {
	a := &alikes{t: t, n: n, server: sourcetest.New()}
	a.all = sourcetest.Serve[*appsv1.Deployment](a.server, deploymentResource, "Deployment")
	for i := range a.want {
		a.want[i] = alike(i)
	}
	for i := range n {
		a.all.Create(alike(i))
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

// mistake makes a mistake, and lets some time pass before the server's next change.
func (a *alikes) mistake(do func(*appsv1.Deployment)) {
	time.Sleep(time.Second)
	obj, _ := a.cache.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: fmt.Sprint("deployment-", mistaken)})
	do(obj)
	time.Sleep(time.Second)
}

// damaged counts the Deployments from..to that differ from the server's, except for mistaken.
func (a *alikes) damaged(from, to int) (n int) {
	synctest.Wait()
	have := a.cache.Store().Snapshot()
	for i := from; i < to; i++ {
		want := a.want[i%len(a.want)]
		got, ok := have.Get(object.Key{Namespace: "shop", Name: fmt.Sprint("deployment-", i)})
		if i != mistaken && (!ok || !equality.Semantic.DeepEqual(got.Labels, want.Labels) || !equality.Semantic.DeepEqual(got.Spec, want.Spec)) {
			n++
		}
	}
	return n
}

// relist makes the informer list again, also what has not changed.
func (a *alikes) relist() {
	before := len(a.server.Requests())
	defer a.server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Refuse(410)})()
	a.server.EndWatches()
	time.Sleep(time.Minute)
	if len(a.server.Requests()) < before+2 {
		a.t.Error("there was no list")
	}
}

var transformed = informer.WithTransform(func(obj object.Object) (object.Object, error) { return obj, nil })

// TestPromise10AMistakeDamagesOthersUntilTheServerSendsThemAgain makes each mistake with one of
// many cached objects. No other is damaged once the server has sent it again, in a list, where its
// version is the same, or by an event; nor are objects that are new.
func TestPromise10AMistakeDamagesOthersUntilTheServerSendsThemAgain(t *testing.T) {
	const events = 200 // mistaken among them
	for _, tc := range []struct {
		name string
		many int
		opt  informer.Option
	}{
		{"JSON", 300, informer.WithFormats(source.JSON)},
		{"protobuf", 200, informer.WithFormats(source.Protobuf)},
		{"transformed", 200, transformed},
	} {
		for _, m := range mistakes {
			inBubble(t, tc.name+"/"+m.what, func(t *testing.T) {
				n := tc.many
				a := startAlikes(t, n, tc.opt)
				none := func(when string, from, to int) {
					t.Helper()
					if damaged := a.damaged(from, to); damaged > 0 {
						t.Errorf("%s: %d of %d other objects are damaged", when, damaged, to-from)
					}
				}
				a.mistake(m.do)
				t.Logf("at once: %d of %d other objects are damaged", a.damaged(0, n), n-1)
				a.relist()
				none("after a list", 0, n)
				a.mistake(m.do)
				for i := n; i < n+events; i++ {
					a.all.Create(alike(i))
				}
				none("new ones", n, n+events)
				for i := range events {
					a.all.Update(alike(i))
				}
				none("after an event of each", 0, events)
			})
		}
	}
}

// TestWithoutSharingAMistakeDamagesNoOther makes all mistakes with one of many cached objects.
func TestWithoutSharingAMistakeDamagesNoOther(t *testing.T) {
	for what, opt := range map[string]informer.Option{
		"JSON":        informer.WithFormats(source.JSON),
		"protobuf":    informer.WithFormats(source.Protobuf),
		"transformed": transformed,
	} {
		synctest.Test(t, func(t *testing.T) {
			a := startAlikes(t, 200, opt, informer.WithoutSharing())
			for _, m := range mistakes {
				a.mistake(m.do)
			}
			if n := a.damaged(0, a.n); n > 0 {
				t.Errorf("%s: %d of 199 other objects are damaged", what, n)
			}
		})
	}
}
