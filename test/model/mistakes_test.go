// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// deployment returns one of many similar Deployments.
func deployment(i int) *appsv1.Deployment {
	labels := map[string]string{"app": fmt.Sprint(i % 10)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("deployment-", i), Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(i%3 + 1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(1000))},
				Containers:      []corev1.Container{{Name: "main", Image: "app", Env: []corev1.EnvVar{{Name: "LEVEL", Value: "info"}}}},
			}},
		},
	}
}

// TestServerUndoesMistakes changes one of 1,000 cached objects of client-go's
// informer and of ours. client-go's objects share nothing. Ours do, but all others are right again
// once the server has sent them again: by events or, unchanged, in a list.
func TestServerUndoesMistakes(t *testing.T) {
	const many, mistaken = 1000, 500
	gvr := appsv1.SchemeGroupVersion.WithResource("deployments")
	for name, mistake := range map[string]func(*appsv1.Deployment){
		"behind a pointer to a number": func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 },
		"in a map":                     func(d *appsv1.Deployment) { d.Labels["app"] = "mine" },
		"in an element of a slice":     func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "mine" },
		"nested":                       func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "mine" },
		"in a struct behind a pointer": func(d *appsv1.Deployment) { d.Spec.Template.Spec.SecurityContext.RunAsUser = nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := sourcetest.New()
				all := sourcetest.Serve[*appsv1.Deployment](server, gvr, "Deployment")
				for i := range many {
					all.Create(deployment(i))
				}
				client, err := source.NewClient(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				factory := factories.New(client)
				ours := factories.For[*appsv1.Deployment](factory, gvr)
				if err := factory.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer factory.Shutdown(context.Background())
				config := server.Config()
				config.GroupVersion, config.APIPath, config.NegotiatedSerializer = &appsv1.SchemeGroupVersion, "/apis", scheme.Codecs.WithoutConversion()
				rest, err := rest.RESTClientFor(config)
				if err != nil {
					t.Fatal(err)
				}
				theirs := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(rest, "deployments", "", fields.Everything()), &appsv1.Deployment{}, 0, nil)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); theirs.RunWithContext(ctx) }()
				defer func() { cancel(); <-ended }()

				sides := map[string]func(name string) *appsv1.Deployment{
					"informer-gen": func(name string) *appsv1.Deployment {
						d, _ := ours.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: name})
						return d
					},
					"client-go": func(name string) *appsv1.Deployment {
						d, _, _ := theirs.GetStore().GetByKey("shop/" + name)
						return d.(*appsv1.Deployment)
					},
				}
				damaged := func(side, when string, from, to int) (n int) {
					synctest.Wait()
					for i := from; i < to; i++ {
						got, want := sides[side](fmt.Sprint("deployment-", i)), deployment(i)
						if i != mistaken && !(equality.Semantic.DeepEqual(got.Spec, want.Spec) && equality.Semantic.DeepEqual(got.Labels, want.Labels)) {
							n++
						}
					}
					t.Logf("%-12s %4d of %d other objects are wrong %s", side, n, to-from, when)
					return n
				}
				each := func(do func(side string)) {
					for _, side := range []string{"informer-gen", "client-go"} {
						do(side)
					}
				}
				none := func(when string, from, to int) {
					each(func(side string) {
						if damaged(side, when, from, to) > 0 {
							t.Errorf("%s: objects are wrong %s", side, when)
						}
					})
				}
				mistakes := func() {
					time.Sleep(10 * time.Second) // the server's next writes are later
					each(func(side string) {
						mistake(sides[side](fmt.Sprint("deployment-", mistaken)))
						damaged(side, "at once", 0, many)
					})
					time.Sleep(time.Second)
				}
				mistakes()
				for i := many; i < 2*many; i++ {
					all.Create(deployment(i))
				}
				none("of the next 1,000", many, 2*many)
				for i := range many {
					all.Update(deployment(i))
				}
				none("after an event of each", 0, 2*many)
				mistakes()
				defer server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 2, Do: sourcetest.Refuse(410)})()
				server.EndWatches()
				time.Sleep(5 * time.Minute)
				none("after a list", 0, 2*many)
			})
		})
	}
}
