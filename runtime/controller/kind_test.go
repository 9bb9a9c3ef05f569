// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/writer"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest/patches"
)

var (
	nodesResource = corev1.SchemeGroupVersion.WithResource("nodes")

	podsByNode = store.NewIndex("ByNode", func(p *corev1.Pod, keys []string) []string { return append(keys, p.Spec.NodeName) })
)

type result = controller.Result

// kindRig is a server in memory with three kinds, and what code that is generated for them has.
type kindRig struct {
	t      *testing.T
	client *source.Client
	maps   *sourcetest.Collection[*corev1.ConfigMap]
	pods   *sourcetest.Collection[*corev1.Pod]
	nodes  *sourcetest.Collection[*corev1.Node]

	mapKind  *controller.Kind[*corev1.ConfigMap]
	podKind  *controller.Kind[*corev1.Pod]
	nodeKind *controller.Kind[*corev1.Node]

	mu   sync.Mutex // mu guards what follows
	seen []string
}

func inKindBubble(t *testing.T, test func(t *testing.T, r *kindRig)) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		server.Patches = patches.All{}
		client, err := source.NewClient(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		factory := factories.New(client)
		test(t, &kindRig{
			t:        t,
			client:   client,
			maps:     sourcetest.Serve[*corev1.ConfigMap](server, mapsResource, "ConfigMap"),
			pods:     sourcetest.Serve[*corev1.Pod](server, podsResource, "Pod"),
			nodes:    sourcetest.Serve[*corev1.Node](server, nodesResource, "Node"),
			mapKind:  controller.NewKind[*corev1.ConfigMap](factory, mapsResource, "ConfigMap", true),
			podKind:  controller.NewKind[*corev1.Pod](factory, podsResource, "Pod", true, informer.WithIndexes(podsByNode)),
			nodeKind: controller.NewKind[*corev1.Node](factory, nodesResource, "Node", false),
		})
	})
}

// see notes the name of an object.
func (r *kindRig) see(obj object.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, obj.GetName())
}

// taken returns the names since the last call, sorted, once all goroutines wait.
func (r *kindRig) taken() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	names := r.seen
	r.seen = nil
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (r *kindRig) want(what, names string) {
	r.t.Helper()
	if got := r.taken(); got != names {
		r.t.Errorf("%s: reconciled %q, want %q", what, got, names)
	}
}

// run runs a controller until the test ends.
func (r *kindRig) run(c *controller.Controller, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(klog.NewContext(r.t.Context(), logr.Discard()))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.Run(ctx) }()
	r.t.Cleanup(func() { cancel(); <-ended })
}

func podOn(name, node string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: owners},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

func TestReconcileIsCalledWithACopy(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		r.maps.Create(configMap("blue"))
		r.run(r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			m.Data = map[string]string{"changed": "here"}
			return result{}, nil
		}))
		r.want("at the start", "blue")
		cached, ok := r.mapKind.Informer().Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		if !ok || cached.Data != nil {
			t.Errorf("the cache has %v, %v; want the object as the server has it", cached, ok)
		}
		r.maps.Create(configMap("red"))
		r.want("a new one", "red")
	})
}

func TestWhatIsGoneIsPassedOver(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		r.maps.Create(configMap("blue"))
		c, err := r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			return result{}, nil
		})
		r.run(c, err)
		r.want("at the start", "blue")
		r.maps.Delete("shop", "blue")
		r.want("deleted", "")
		if totals := c.Status().Totals; totals.Succeeded != 2 || totals.Failed != 0 {
			t.Errorf("%+v, want two reconciles that succeeded", totals)
		}
	})
}

func TestResultsAndErrorsReachTheQueue(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		r.maps.Create(configMap("blue"))
		calls := 0
		r.run(r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			if calls++; calls == 1 {
				return result{}, errors.New("not yet")
			}
			return result{RequeueAfter: time.Hour}, nil
		}))
		time.Sleep(time.Minute)
		r.want("after an error", "blue blue")
		time.Sleep(time.Hour)
		r.want("an hour later", "blue")
	})
}

func TestWhenRestrictsEventsOfTheKind(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		added := func(old, obj *corev1.ConfigMap) bool { return old == nil && obj != nil }
		r.run(r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			return result{}, nil
		}, controller.When(added, controller.LabelsChanged[*corev1.ConfigMap])))
		m := r.maps.Create(configMap("blue"))
		r.want("created", "blue")
		m.Labels = map[string]string{"a": "b"}
		r.maps.Update(m)
		r.want("changed", "")
	})
}

func TestOwnsQueuesOwnersOfTheKind(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		blue, north := r.maps.Create(configMap("blue")), r.nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "north"}})
		r.maps.Create(configMap("red"))
		r.run(r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			return result{}, nil
		}, controller.Owns(r.podKind.Informer())))
		r.run(r.nodeKind.Reconcile("nodes", func(_ context.Context, n *corev1.Node) (result, error) {
			r.see(n)
			return result{}, nil
		}, controller.Owns(r.podKind.Informer())))
		r.want("at the start", "blue north red")
		r.pods.Create(podOn("a", "", *metav1.NewControllerRef(blue, r.mapKind.GroupVersionKind())))
		r.want("a Pod of blue", "blue")
		r.pods.Create(podOn("b", "", *metav1.NewControllerRef(north, r.nodeKind.GroupVersionKind())))
		r.want("a Pod of north, which has no namespace", "north")
	})
}

func TestIndexedQueuesWhatRefersToAnObject(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		for _, p := range []*corev1.Pod{podOn("a", "north"), podOn("b", "south"), podOn("c", "north")} {
			r.pods.Create(p)
		}
		r.run(r.podKind.Reconcile("pods", func(_ context.Context, p *corev1.Pod) (result, error) {
			r.see(p)
			return result{}, nil
		}, controller.Indexed(podsByNode, r.nodeKind.Informer(), (*corev1.Node).GetName)))
		r.want("at the start", "a b c")
		r.nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "north"}})
		r.want("a Node", "a c")
	})
}

func TestWatchesAndOptionsOfTheController(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		r.maps.Create(configMap("blue"))
		all := func() iter.Seq[object.Key] {
			return slices.Values([]object.Key{{Namespace: "shop", Name: "blue"}})
		}
		c, err := r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			return result{}, nil
		}, controller.Options{Concurrency: 3}, controller.Every(time.Hour, 0, all))
		r.run(c, err)
		r.want("at the start", "blue")
		time.Sleep(time.Hour)
		r.want("an hour later", "blue")
		if status := c.Status(); status.Name != "maps" || status.Concurrency != 3 {
			t.Errorf("name %q, concurrency %d; want maps, 3", status.Name, status.Concurrency)
		}
	})
}

// TestWithSelectsWhatIsReconciled shows that the kind with other options is still one that a
// controller can be made of.
func TestWithSelectsWhatIsReconciled(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		r.maps.Create(configMap("blue"))
		other := configMap("other")
		other.Namespace = "elsewhere"
		r.maps.Create(other)
		kind := r.mapKind.With(factories.KindOptions[*corev1.ConfigMap]{Namespaces: []string{"elsewhere"}})
		r.run(kind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			r.see(m)
			return result{}, nil
		}))
		r.want("at the start", "other")
	})
}

func TestWrongOptionsAreNamed(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		reconcileMap := func(context.Context, *corev1.ConfigMap) (result, error) { return result{}, nil }
		var noFilter controller.Filter[*corev1.ConfigMap]
		for name, test := range map[string]struct {
			f      controller.ReconcileObject[*corev1.ConfigMap]
			name   string
			option controller.Option
			want   string
		}{
			"no function": {nil, "maps", controller.Options{}, `controller.New "maps": the function is nil`},
			"no name":     {reconcileMap, "", controller.Options{}, `controller.New "": the name is empty`},
			"nil option":  {reconcileMap, "maps", nil, `controller.New "maps": option 1: it is nil`},
			"filter of another kind": {
				reconcileMap, "maps", controller.When(controller.LabelsChanged[*corev1.Pod]),
				`option 1: When: the filter is of *v1.Pod; want one of *v1.ConfigMap`,
			},
			"nil filter": {reconcileMap, "maps", controller.When(noFilter), `option 1: When: the filter is nil`},
			"index of another kind": {
				reconcileMap, "maps", controller.Indexed(podsByNode, r.nodeKind.Informer(), (*corev1.Node).GetName),
				`watch 2, Indexed ByNode of nodes/v1: the index is of *v1.Pod; want one of *v1.ConfigMap`,
			},
			"nil informer": {reconcileMap, "maps", controller.Owns[*corev1.Pod](nil), "watch 2, Owns: the informer is nil"},
		} {
			c, err := r.mapKind.Reconcile(test.name, test.f, test.option)
			if c != nil {
				t.Errorf("%s: a controller", name)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v; want %q in the error", name, err, test.want)
			}
		}
	})
}

func TestWriterIsThatOfTheKind(t *testing.T) {
	inKindBubble(t, func(t *testing.T, r *kindRig) {
		maps, err := controller.Writer(r.client, r.mapKind, writer.Options{FieldManager: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		// An apply has the kind in its body.
		if _, _, err := maps.Apply(t.Context(), configMap("blue")); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.maps.Get("shop", "blue"); !ok {
			t.Error("the server hasn't got what was applied")
		}
		if got, want := fmt.Sprint(r.nodeKind.GroupVersionKind()), "/v1, Kind=Node"; got != want {
			t.Errorf("the kind is %q, want %q", got, want)
		}
		if _, err := controller.Writer(nil, r.podKind, writer.Options{}); err == nil {
			t.Error("a writer without a client")
		}
	})
}
