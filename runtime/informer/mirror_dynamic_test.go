// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// The scenarios of client-go's dynamicinformer and metadatainformer: informers by resource, of
// untyped objects or metadata.

var deploymentResource = appsv1.SchemeGroupVersion.WithResource("deployments")

func deployment(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"environment": "test"}}}
}

func serveDeployments() (*shop, *sourcetest.Collection[*appsv1.Deployment]) {
	server := sourcetest.New()
	return &shop{Server: server}, sourcetest.Serve[*appsv1.Deployment](server, deploymentResource, "Deployment")
}

func TestWatchListSemanticsSimple(t *testing.T) {
	for _, known := range []bool{true, false} {
		inBubble(t, fmt.Sprint("dynamic ", known), func(t *testing.T) { watchListSemantics[*unstructured.Unstructured](t, known) })
		inBubble(t, fmt.Sprint("metadata ", known), func(t *testing.T) { watchListSemantics[*metav1.PartialObjectMetadata](t, known) })
	}
}

// watchListSemantics syncs from a watch-list. The informer sends no list request unless the server
// does not know watch-lists.
func watchListSemantics[T object.Object](t *testing.T, known bool) {
	server, deployments := serveDeployments()
	deployments.Create(deployment("ns", "name-foo"))
	if !known {
		server.Inject(sourcetest.Fault{On: sourcetest.WatchList, Times: sourcetest.Always, Do: sourcetest.Refuse(422)})
	}
	f := server.Factory(t, informer.WithNamespace("ns"), informer.WithLogger(discard))
	i := factories.For[T](f, deploymentResource)
	run(t, f)
	same(t, "objects", informertest.Names(i), []string{"ns/name-foo"})
	shutdown(t, f)
	lists := slices.ContainsFunc(server.Requests(), func(r sourcetest.Request) bool { return r.Verb == sourcetest.List })
	same(t, "listed", lists, !known)
}

func TestFilteredDynamicSharedInformerFactory(t *testing.T) {
	t.Run("dynamic", filteredFactory[*unstructured.Unstructured])
	t.Run("metadata", filteredFactory[*metav1.PartialObjectMetadata])
}

func filteredFactory[T object.Object](t *testing.T) {
	field := func(name string) informer.Option {
		return informer.WithFieldSelector(fields.OneTermEqualSelector("metadata.name", name))
	}
	label := func(environment string) informer.Option {
		return informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"environment": environment}))
	}
	for name, test := range map[string]struct {
		opts []informer.Option
		want []string
	}{
		"another namespace":        {[]informer.Option{informer.WithNamespace("ns-bar")}, nil},
		"its namespace":            {[]informer.Option{informer.WithNamespace("ns-foo")}, []string{"+name-foo@2"}},
		"one of its namespaces":    {[]informer.Option{informer.WithNamespace("ns-bar", "ns-foo")}, []string{"+name-foo@2"}},
		"field that doesn't match": {[]informer.Option{informer.WithNamespace("ns-foo"), field("name-bar")}, nil},
		"field that matches":       {[]informer.Option{informer.WithNamespace("ns-foo"), field("name-foo")}, []string{"+name-foo@2"}},
		"label that doesn't match": {[]informer.Option{informer.WithNamespace("ns-foo"), label("production")}, nil},
		"label that matches":       {[]informer.Option{informer.WithNamespace("ns-foo"), label("test")}, []string{"+name-foo@2"}},
	} {
		inBubble(t, name, func(t *testing.T) {
			server, deployments := serveDeployments()
			f := server.Factory(t, test.opts...)
			var j journal[T]
			informertest.Add(t, factories.For[T](f, deploymentResource), &j)
			run(t, f)
			deployments.Create(deployment("ns-foo", "name-foo"))
			j.Saw(t, test.want...)
			shutdown(t, f)
		})
	}
}

func TestDynamicSharedInformerFactory(t *testing.T) {
	anyKindFactory[*unstructured.Unstructured](t, appsv1.SchemeGroupVersion.WithKind("Deployment"))
}

func TestMetadataSharedInformerFactory(t *testing.T) {
	anyKindFactory[*metav1.PartialObjectMetadata](t, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
}

// anyKindFactory checks handlers and indexes of informers by resource.
func anyKindFactory[T object.Object](t *testing.T, kind schema.GroupVersionKind) {
	synctest.Test(t, func(t *testing.T) {
		server, deployments := serveDeployments()
		deployments.Create(deployment("ns-foo", "existing"))
		f := server.Factory(t)
		byEnvironment := store.NewIndex("ByEnvironment", func(obj T, keys []string) []string {
			return append(keys, obj.GetLabels()["environment"])
		})
		i := factories.For[T](f, deploymentResource, informer.WithIndexes(byEnvironment))
		if factories.For[T](f, deploymentResource) != i {
			t.Error("For with the same resource and type has returned another informer")
		}
		var j journal[T]
		informertest.Add(t, i, &j)
		run(t, f)
		j.Saw(t, "+existing@2 initial")
		deployments.Create(deployment("ns-foo", "name-foo"))
		j.Saw(t, "+name-foo@3")
		changed := deployment("ns-foo", "name-foo")
		changed.Labels["environment"] = "production"
		deployments.Update(changed)
		j.Saw(t, "~name-foo@3>4")
		same(t, "keys", slices.Sorted(byEnvironment.Keys(i.Store().Snapshot())), []string{"production", "test"})

		ns := lister.New(i.Store(), deploymentResource.GroupResource()).Namespace("ns-foo")
		got, err := ns.Get("name-foo")
		if err != nil || got.GetLabels()["environment"] != "production" || got.GetObjectKind().GroupVersionKind() != kind {
			t.Errorf("Get() = %v, %v, want the updated object of kind %v", got, err, kind)
		}
		_, err = ns.Get("name-bar")
		want(t, err, `deployments.apps "name-bar" not found`)
		deployments.Delete("ns-foo", "name-foo")
		j.Saw(t, "-name-foo@5")
		j.Check(t, i)
		shutdown(t, f)
	})
}

// TestUnknownResource shows that an informer waits for a resource that is served later, such as one
// of a CustomResourceDefinition installed later.
func TestUnknownResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		f := server.Factory(t, informer.WithLogger(discard))
		later := schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"}
		widgets := factories.For[*unstructured.Unstructured](f, later)
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		sourcetest.Serve[*corev1.Pod](server.Server, later, "Widget").Create(pod("shop", "blue", ""))
		noError(t, f.WaitForCacheSync(t.Context()))
		got, _ := widgets.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		same(t, "kind", got.GetKind(), "Widget")
		shutdown(t, f)
	})
}
