// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

type (
	podOptions  = factories.KindOptions[*corev1.Pod]
	nodeOptions = factories.KindOptions[*corev1.Node]
	podInformer = informer.SharedIndexInformer[*corev1.Pod]
)

// These functions are like the generated ones.

func podKind(f *factories.Factory) *factories.Kind[*corev1.Pod] {
	return factories.NewKind[*corev1.Pod](f, podResource, informer.WithIndexes(PodByNode))
}

func nodeKind(f *factories.Factory) *factories.Kind[*corev1.Node] {
	return factories.NewKind[*corev1.Node](f, nodeResource, factories.WithClusterScope())
}

func withPods(options podOptions) informer.Option { return factories.WithKind(podResource, options) }

func withNodes(options nodeOptions) informer.Option { return factories.WithKind(nodeResource, options) }

func app(name string) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": name}) }

// TestKindOptionsPrecedence shows that options of the call override those of WithKind, and these
// override the factory's, field by field. An informer's name has the differences from the kind's
// default.
func TestKindOptionsPrecedence(t *testing.T) {
	type opts = []informer.Option
	of := func(namespace string, selector labels.Selector) podOptions {
		o := podOptions{LabelSelector: selector}
		if namespace != "" {
			o.Namespaces = []string{namespace}
		}
		return o
	}
	for name, test := range map[string]struct {
		factory  opts
		call     podOptions
		request  string // the path and the selector that the server is asked for
		informer string
	}{
		"nothing":       {nil, podOptions{}, "/api/v1/pods", "pods/v1"},
		"the factory's": {opts{informer.WithNamespace("f"), informer.WithLabelSelector(app("f"))}, podOptions{}, "/api/v1/namespaces/f/pods app=f", "pods/v1"},
		"the kind's before the factory's": {opts{informer.WithNamespace("f"), informer.WithLabelSelector(app("f")), withPods(of("k", nil))}, podOptions{},
			"/api/v1/namespaces/k/pods app=f", "pods/v1"},
		"in another order": {opts{withPods(of("k", nil)), informer.WithNamespace("f"), informer.WithLabelSelector(app("f"))}, podOptions{},
			"/api/v1/namespaces/k/pods app=f", "pods/v1"},
		"the call's before the kind's": {opts{informer.WithNamespace("f"), withPods(of("k", app("k")))}, of("", app("c")),
			"/api/v1/namespaces/k/pods app=c", `pods/v1 with labels "app=c"`},
		"the call's before the factory's": {opts{informer.WithNamespace("f")}, of("c", app("c")),
			"/api/v1/namespaces/c/pods app=c", `pods/v1 in namespace "c" with labels "app=c"`},
		"the call cancels": {opts{informer.WithNamespace("f"), withPods(of("k", app("k")))}, podOptions{Namespaces: []string{""}, LabelSelector: labels.Everything()},
			"/api/v1/pods", `pods/v1 in all namespaces with any labels`},
		"the later WithKind, for the fields that it sets": {opts{withPods(of("k", app("k"))), withPods(of("", app("l")))}, podOptions{}, "/api/v1/namespaces/k/pods app=l", "pods/v1"},
		"another kind's":  {opts{withNodes(nodeOptions{LabelSelector: app("n")})}, podOptions{}, "/api/v1/pods", "pods/v1"},
		"the kind's name": {opts{withPods(podOptions{Name: "mine"})}, podOptions{}, "/api/v1/pods", "mine"},
		"the kind's name with the call's selector": {opts{withPods(podOptions{Name: "mine"})}, of("", app("c")), "/api/v1/pods app=c", `mine with labels "app=c"`},
		"the call's name":                          {opts{withPods(podOptions{Name: "mine"})}, podOptions{Name: "yours", LabelSelector: app("c")}, "/api/v1/pods app=c", "yours"},
		"Options after the fields":                 {nil, podOptions{LabelSelector: app("c"), Options: opts{informer.WithLabelSelector(app("o"))}}, "/api/v1/pods app=o", `pods/v1 with labels "app=o"`},
		"a namespace in Options before the kind's": {opts{withPods(of("k", nil))}, podOptions{Options: opts{informer.WithNamespace("o")}}, "/api/v1/namespaces/o/pods", `pods/v1 in namespace "o"`},
		"a field selector before that of the kind": {opts{withPods(podOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "k")})},
			podOptions{FieldSelector: fields.Everything()}, "/api/v1/pods", `pods/v1 with any fields`},
	} {
		inBubble(t, name, func(t *testing.T) {
			server := newShop()
			f := server.Factory(t, test.factory...)
			pods := podKind(f).With(test.call).Informer()
			same(t, "name", pods.Status().Name, test.informer)
			run(t, f)
			shutdown(t, f)
			request := server.Requests()[0]
			same(t, "request", strings.TrimSpace(request.Path+" "+request.Query.Get("labelSelector")+request.Query.Get("fieldSelector")), test.request)
		})
	}
}

// TestWrongKindOptions shows that wrong options are errors of Start, which name the call that got
// the option, even if the kind of a WithKind is never used.
func TestWrongKindOptions(t *testing.T) {
	type opts = []informer.Option
	anyNode := func(f *factories.Factory) { nodeKind(f).Informer() }
	for name, test := range map[string]struct {
		factory opts
		use     func(*factories.Factory)
		want    string
	}{
		"a kind that is never used": {opts{withPods(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{PodByNode}})}, nil, ""},
		"a wrong one for a kind that is never used": {opts{withPods(podOptions{ResyncPeriod: -1})}, nil,
			"factories.New: WithKind: pods/v1: WithResyncPeriod: -1ns; want 0 or more"},
		"no resource": {opts{factories.WithKind(corev1.SchemeGroupVersion.WithResource(""), podOptions{})}, nil,
			`factories.New: WithKind: /v1: "/v1, Resource=" lacks a resource or a version`},
		"no struct": {opts{factories.WithKind(podResource, factories.KindOptions[object.Object]{})}, nil,
			"factories.New: WithKind: pods/v1: can't make objects of type object.Object; want a pointer to a struct"},
		"given to For": {nil, func(f *factories.Factory) { podsOf(f, withPods(podOptions{})) },
			"factories.For pods/v1: WithKind: not an option of factories.For; use it with factories.New"},
		"given to itself": {opts{withPods(podOptions{Options: opts{withPods(podOptions{})}})}, nil,
			"factories.New: WithKind: pods/v1: WithKind: not an option of factories.For; use it with factories.New"},
		"no namespace": {opts{withPods(podOptions{Namespaces: []string{}})}, nil,
			`factories.New: WithKind: pods/v1: WithNamespace: no namespace; "" means all of them`},
		"namespaces in a field and in Options": {nil, func(f *factories.Factory) {
			if podKind(f).With(podOptions{Namespaces: []string{"a"}, Options: opts{informer.WithNamespace("b")}}).Informer() != podsOf(f, informer.WithNamespace("b")) {
				t.Error("the field Namespaces has replaced the option")
			}
		}, ""},
		"another Go type": {opts{factories.WithKind(podResource, nodeOptions{LabelSelector: app("a")})}, func(f *factories.Factory) { podKind(f).Informer(); podKind(f).Informer() },
			"factories.For pods/v1: objects of type *v1.Pod, but WithKind has options for objects of type *v1.Node"},
		"namespaces of a cluster-scoped kind": {opts{withNodes(nodeOptions{Namespaces: []string{"a"}})}, anyNode,
			"factories.For nodes/v1: WithClusterScope: WithKind sets namespaces; a cluster-scoped kind has no namespaces"},
		"namespaces of a cluster-scoped kind in Options": {opts{withNodes(nodeOptions{Options: opts{informer.WithNamespace("a")}}), withNodes(nodeOptions{})}, anyNode,
			"factories.For nodes/v1: WithClusterScope: WithKind sets namespaces; a cluster-scoped kind has no namespaces"},
		"namespaces of a cluster-scoped kind's With": {nil, func(f *factories.Factory) {
			nodeKind(f).With(nodeOptions{Namespaces: []string{"a"}}).Informer()
		}, "factories.For nodes/v1: WithNamespace: a cluster-scoped kind has no namespaces"},
		"the factory's namespaces, cluster-scoped":                                 {opts{informer.WithNamespace("a"), withNodes(nodeOptions{LabelSelector: app("a")})}, anyNode, ""},
		"the factory's namespaces, cluster-scoped, beside options of another kind": {opts{informer.WithNamespace("a"), withPods(podOptions{Namespaces: []string{"b"}})}, anyNode, ""},
		"another transform of the same selection": {nil, func(f *factories.Factory) {
			podKind(f).Informer()
			podKind(f).With(podOptions{Transform: keep[*corev1.Pod]}).Informer()
		}, "factories.For pods/v1: WithTransform: the informer was made with another value; give it to the first For, or to none, or make another informer by WithName"},
		"another transform under another name": {nil, func(f *factories.Factory) {
			podKind(f).Informer()
			podKind(f).With(podOptions{Name: "kept", Transform: keep[*corev1.Pod]}).Informer()
		}, ""},
		"the zero Kind": {nil, func(*factories.Factory) {
			var k factories.Kind[*corev1.Pod]
			want(t, k.Informer().AddIndexers(PodByNode), "informer /: AddIndexers: factories.For /: the factory is nil")
			want(t, k.With(podOptions{}).Informer().AddIndexers(PodByNode), "informer /: AddIndexers: factories.For /: the factory is nil")
		}, ""},
	} {
		inBubble(t, name, func(t *testing.T) {
			f := newShop().Factory(t, test.factory...)
			if test.use != nil {
				test.use(f)
			}
			err := f.Start(t.Context())
			if test.want != "" {
				want(t, err, "informer factory: Start: "+test.want)
			} else if err != nil {
				t.Error(err)
			}
			shutdown(t, f)
		})
	}
}

// TestUntypedInformersBesideWithKind shows that metadata and dynamic informers of the resource, and
// those of projections, have their own options and names.
func TestUntypedInformersBesideWithKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "web", map[string]string{"app": "web"}), labelled("shop", "api", map[string]string{"app": "api"}), pod("shop", "none", ""))
		f := server.Factory(t, withPods(podOptions{LabelSelector: app("web")}),
			factories.WithKind(podResource, factories.KindOptions[*metav1.PartialObjectMetadata]{LabelSelector: app("api")}))
		pods, metadata, dynamic := podKind(f).Informer(), factories.ForMetadata(f, podResource), factories.For[*unstructured.Unstructured](f, podResource)
		placements := factories.For[*placement.PodPlacement](f, podResource)
		run(t, f)
		same(t, "placements", informertest.Names(placements), []string{"shop/api", "shop/none", "shop/web"})
		same(t, "pods", informertest.Names(pods), []string{"shop/web"})
		same(t, "metadata", informertest.Names(metadata), []string{"shop/api"})
		same(t, "dynamic", informertest.Names(dynamic), []string{"shop/api", "shop/none", "shop/web"})
		same(t, "their names", []string{pods.Status().Name, metadata.Status().Name, dynamic.Status().Name, placements.Status().Name},
			[]string{"pods/v1", "pods/v1 (metadata)", "pods/v1 (unstructured)", "pods/v1 (PodPlacement)"})
		shutdown(t, f)
	})
}

// TestSeveralInformersOfAKind has informers of one kind with different selectors, namespaces and
// names. Each has its own store, handlers, status and metrics; the factory starts, awaits, stops
// and removes each.
func TestSeveralInformersOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web, api := map[string]string{"app": "web"}, map[string]string{"app": "api"}
		server := newShop(labelled("a", "web", web), labelled("a", "api", api), labelled("b", "web", web), labelled("c", "web", web))
		measured := &namedMetrics{}
		f := server.Factory(t, informer.WithMetrics(measured))
		kind := podKind(f)
		all := kind.Informer()
		webs := kind.With(podOptions{LabelSelector: app("web")})
		inNamespaces := webs.With(podOptions{Namespaces: []string{"b", "a"}}).Informer()
		other := kind.With(podOptions{Name: "other"}).Informer()
		informers := []*podInformer{all, webs.Informer(), inNamespaces, other}
		names := []string{"pods/v1", `pods/v1 with labels "app=web"`, `pods/v1 in namespaces ["a" "b"] with labels "app=web"`, "other"}
		journals := make([]*journal[*corev1.Pod], len(informers))
		for n, i := range informers {
			journals[n] = &journal[*corev1.Pod]{}
			informertest.Add(t, i, journals[n])
			same(t, "name", i.Status().Name, names[n])
		}
		if kind.Informer() != all || podsOf(f) != all || podKind(f).With(podOptions{LabelSelector: app("web")}).Informer() != webs.Informer() || kind.With(podOptions{}).Informer() != all ||
			podsOf(f, informer.WithNamespace("a", "b"), informer.WithLabelSelector(app("web"))) != inNamespaces {
			t.Error("the same selection has another informer")
		}
		same(t, "informers", len(f.Informers()), 4)

		// The default informer is the one without other options.
		generic := factories.Generic(kind.Informer(), podResource.GroupResource())
		same(t, "generic", generic.Informer().Status().Name, "pods/v1")

		run(t, f)
		everything := []string{"a/api", "a/web", "b/web", "c/web"}
		for n, content := range [][]string{everything, {"a/web", "b/web", "c/web"}, {"a/web", "b/web"}, everything} {
			same(t, names[n], informertest.Names(informers[n]), content)
			same(t, names[n]+": handler", len(journals[n].Take()), len(content))
			journals[n].Check(t, informers[n])
		}
		slices.Sort(names)
		same(t, "metrics", measured.sorted(), names)

		server.Pods.Delete("c", "web")
		journals[0].Saw(t, "-web@6")
		journals[1].Saw(t, "-web@6")
		journals[2].Saw(t)

		noError(t, f.Stop(t.Context(), webs.Informer()))
		server.Pods.Delete("b", "web")
		synctest.Wait()
		same(t, "stopped", informertest.Names(webs.Informer()), []string{"a/web", "b/web"})
		same(t, "the running informer", informertest.Names(inNamespaces), []string{"a/web"})
		noError(t, f.Remove(t.Context(), inNamespaces))
		if webs.With(podOptions{Namespaces: []string{"b", "a"}}).Informer() == inNamespaces {
			t.Error("With has returned the removed informer")
		}
		run(t, f)
		same(t, "started again", informertest.Names(webs.Informer()), []string{"a/web"})
		shutdown(t, f)
	})
}

// TestListersOfSeveralInformers shows that each lister reads its own store, by the same indexes.
func TestListersOfSeveralInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("a", "web", map[string]string{"app": "web"}), pod("a", "none", ""), pod("b", "none", ""))
		f := server.Factory(t)
		kind := podKind(f)
		list := func(k *factories.Kind[*corev1.Pod], namespace string) int {
			l := lister.New(k.Informer().Store(), podResource.GroupResource()).Namespace(namespace)
			return len(PodByNode.ListIn(l.Snapshot(), l.InNamespace(), ""))
		}
		webs := kind.With(podOptions{LabelSelector: app("web")})
		same(t, "before the start", list(kind, "")+list(webs, ""), 0)
		run(t, f)
		same(t, "all, web", []int{list(kind, ""), list(webs, "")}, []int{3, 1})
		same(t, "in a, in b", []int{list(kind, "a"), list(kind, "b"), list(webs, "a"), list(webs, "b")}, []int{2, 1, 1, 0})
		shutdown(t, f)
	})
}

// TestKindsAreShared uses one factory's kinds from many goroutines.
func TestKindsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop().Factory(t, withPods(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{podsByApp}}))
		kind := podKind(f)
		base := kind.With(podOptions{LabelSelector: app("web")})
		ctx, cancel := context.WithCancel(t.Context())
		for n := range 8 {
			go func() {
				base.With(podOptions{Namespaces: []string{fmt.Sprint("n", n%4)}}).Informer()
				kind.Informer()
				noError(t, f.Start(ctx))
			}()
		}
		synctest.Wait()
		same(t, "informers", len(f.Informers()), 5)
		noError(t, f.WaitForCacheSync(t.Context()))
		cancel()
		shutdown(t, f)
	})
}

// namedMetrics is a Provider that records the names of informers.
type namedMetrics struct {
	mu    sync.Mutex
	names []string
}

func (m *namedMetrics) BeginInformer(name string, _ func() metrics.InformerState) metrics.InformerRecorder {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names = append(m.names, name)
	return noRecorder{}
}

func (m *namedMetrics) sorted() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.names))
}
