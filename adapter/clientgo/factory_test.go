// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// with returns a function that makes client-go's factory with options.
func with(options ...informers.SharedInformerOption) func(*rest.Config) (informers.SharedInformerFactory, error) {
	return func(config *rest.Config) (informers.SharedInformerFactory, error) {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		return informers.NewSharedInformerFactoryWithOptions(client, 0, options...), nil
	}
}

// TestNewFactory: a generated factory has our informers of the named resources, and its options
// hold.
func TestNewFactory(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	sourcetest.Serve[*corev1.Node](server, corev1.SchemeGroupVersion.WithResource("nodes"), "")
	web := func(p *corev1.Pod) { p.Labels = map[string]string{"tier": "web"} }
	pods.Create(pod("a", web, on("n1")))
	pods.Create(pod("b"))
	pods.Create(pod("c", web, func(p *corev1.Pod) { p.Namespace = "bank" }))

	factory, err := clientgo.NewFactory(server.Config(), with(
		informers.WithNamespace("shop"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "tier=web" }),
		informers.WithTransform(func(obj any) (any, error) {
			if p, ok := obj.(*corev1.Pod); ok {
				p.Spec.NodeName = ""
			}
			return obj, nil
		}),
	), podResource)
	if err != nil {
		t.Fatal(err)
	}
	if sent := server.Requests(); len(sent) != 0 {
		t.Errorf("NewFactory sent %v, want no requests", sent)
	}
	j := &journal{}
	handle, err := factory.Core().V1().Pods().Informer().AddEventHandler(j)
	if err != nil {
		t.Fatal(err)
	}
	lister, nodes := factory.Core().V1().Pods().Lister(), factory.Core().V1().Nodes().Lister()
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			t.Errorf("%v has not synced", kind)
		}
	}
	if !cache.WaitForCacheSync(ctx.Done(), handle.HasSynced) || !slices.Equal(j.lines, []string{"add a initial"}) {
		t.Errorf("the handler got %q", j.lines)
	}
	if p, err := lister.Pods("shop").Get("a"); err != nil || p.Spec.NodeName != "" {
		t.Errorf("Get by the lister = %v, %v", p, err)
	}
	if all, err := lister.Pods("shop").List(labels.Everything()); err != nil || len(all) != 1 {
		t.Errorf("listed %v, %v", all, err)
	}
	if all, err := nodes.List(labels.Everything()); err != nil || len(all) != 0 {
		t.Errorf("listed %v, %v", all, err)
	}
	cancel()
	factory.Shutdown()
	if !slices.ContainsFunc(server.Requests(), func(r sourcetest.Request) bool {
		return r.Namespace == "shop" && r.Query.Get("labelSelector") == "tier=web"
	}) {
		t.Errorf("the factory sent %v", server.Requests())
	}
}

func TestNewFactoryFails(t *testing.T) {
	tweaked := func(tweak func(*metav1.ListOptions)) func(*rest.Config) (informers.SharedInformerFactory, error) {
		return with(informers.WithTweakListOptions(tweak))
	}
	for name, test := range map[string]struct {
		config   *rest.Config
		make     func(*rest.Config) (informers.SharedInformerFactory, error)
		resource schema.GroupVersionResource
		want     string
	}{
		"no config":         {nil, with(), podResource, "config is nil"},
		"no factory":        {&rest.Config{}, func(*rest.Config) (informers.SharedInformerFactory, error) { return nil, errors.New("not today") }, podResource, "not today"},
		"unknown resource":  {&rest.Config{}, with(), corev1.SchemeGroupVersion.WithResource("pod"), "no informer found"},
		"a limit":           {&rest.Config{}, tweaked(func(o *metav1.ListOptions) { o.Limit = 7 }), podResource, `it sets limit to ["7"]`},
		"a resourceVersion": {&rest.Config{}, tweaked(func(o *metav1.ListOptions) { o.ResourceVersion = "7" }), podResource, `it sets resourceVersion to ["7"]`},
		"used before": {&rest.Config{}, func(config *rest.Config) (informers.SharedInformerFactory, error) {
			factory, err := with()(config)
			if err == nil {
				factory.Core().V1().Pods().Informer()
			}
			return factory, err
		}, podResource, "has an informer of *v1.Pod already"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientgo.NewFactory(test.config, test.make, test.resource)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewFactory: error %v, want %q", err, test.want)
			}
		})
	}
}
