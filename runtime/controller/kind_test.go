// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/writer"
)

// kindOf runs a controller of a kind. The calls record the names of the objects.
func kindOf[T object.Object](r *rig, kind *controller.Kind[T], options ...controller.Option) (*controller.Controller, *calls) {
	calls := &calls{}
	c, err := kind.Reconcile("test", func(_ context.Context, obj T) (result, error) {
		calls.note(obj.GetName())
		return result{}, nil
	}, options...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.start(c)
	return c, calls
}

// TestReconcileGetsACopy: it is not called for a deleted object. Its results and errors count as in
// New.
func TestReconcileGetsACopy(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("blue"))
		calls := &calls{}
		c, err := r.mapKind.Reconcile("maps", func(_ context.Context, m *corev1.ConfigMap) (result, error) {
			calls.note(m.Name)
			m.Data = map[string]string{"changed": "here"}
			return result{RequeueAfter: time.Hour}, errTry
		}, controller.Options{MaxRetries: 1})
		if err != nil {
			t.Fatal(err)
		}
		r.start(c)
		time.Sleep(time.Minute)
		same(t, "at the start", calls.take(), []string{"blue", "blue"})
		if cached, ok := r.mapInformer.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"}); !ok || cached.Data != nil {
			t.Errorf("the cache has %v, %v; want the server's object", cached, ok)
		}
		time.Sleep(time.Hour)
		same(t, "an hour later", calls.take(), []string{"blue", "blue"})
		r.maps.Delete("shop", "blue")
		same(t, "deleted", calls.take(), []string{})
		same(t, "succeeded", c.Status().Totals.Succeeded, 1)
	})
}

func TestWhenRestrictsEventsOfTheKind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		added := func(old, obj *corev1.ConfigMap) bool { return old == nil && obj != nil }
		_, calls := kindOf(r, r.mapKind, controller.When(added, controller.LabelsChanged[*corev1.ConfigMap]))
		m := r.maps.Create(configMap("blue"))
		same(t, "created", calls.take(), []string{"blue"})
		m.Labels = map[string]string{"a": "b"}
		r.maps.Update(m)
		same(t, "changed", calls.take(), []string{})
	})
}

// TestOwnsQueuesOwnersOfTheKind: namespaced and cluster-scoped ones.
func TestOwnsQueuesOwnersOfTheKind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		blue, north := r.maps.Create(configMap("blue")), r.nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "north"}})
		_, maps := kindOf(r, r.mapKind, controller.Owns(r.podInformer))
		_, nodes := kindOf(r, r.nodeKind, controller.Owns(r.podInformer))
		same(t, "at the start", append(maps.take(), nodes.take()...), []string{"blue", "north"})
		owned := func(by *metav1.OwnerReference) func(*corev1.Pod) {
			return func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{*by} }
		}
		r.pods.Create(pod("a", owned(metav1.NewControllerRef(blue, r.mapKind.GroupVersionKind()))))
		same(t, "a Pod of blue", append(maps.take(), nodes.take()...), []string{"blue"})
		r.pods.Create(pod("b", owned(metav1.NewControllerRef(north, r.nodeKind.GroupVersionKind()))))
		same(t, "a Pod of north", append(maps.take(), nodes.take()...), []string{"north"})
	})
}

// TestWithSelectsObjects: a kind with other options reconciles the selected objects.
func TestWithSelectsObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("blue"))
		r.maps.Create(configMap("other", func(m *corev1.ConfigMap) { m.Namespace = "elsewhere" }))
		_, calls := kindOf(r, r.mapKind.With(factories.KindOptions[*corev1.ConfigMap]{Namespaces: []string{"elsewhere"}}))
		same(t, "at the start", calls.take(), []string{"other"})
	})
}

func TestReconcileRefusesInvalidOptions(t *testing.T) {
	r := newRig(t)
	reconcile := func(context.Context, *corev1.ConfigMap) (result, error) { return result{}, nil }
	byNode := store.NewIndex("ByNode", func(p *corev1.Pod, keys []string) []string { return append(keys, p.Spec.NodeName) })
	for want, test := range map[string]struct {
		f      controller.ReconcileObject[*corev1.ConfigMap]
		name   string
		option controller.Option
	}{
		`controller.New "maps": the function is nil`: {nil, "maps", controller.Options{}},
		`controller.New "": the name is empty`:       {reconcile, "", controller.Options{}},
		`controller.New "maps": option 1: it is nil`: {reconcile, "maps", nil},
		`option 1: When: the filter is of *v1.Pod; want one of *v1.ConfigMap`: {
			reconcile, "maps", controller.When(controller.LabelsChanged[*corev1.Pod]),
		},
		`option 1: When: the filter is nil`: {reconcile, "maps", controller.When[*corev1.ConfigMap](nil)},
		`watch 2, Indexed ByNode of nodes/v1: the index is of *v1.Pod; want one of *v1.ConfigMap`: {
			reconcile, "maps", controller.Indexed(byNode, r.nodeKind.Informer(), (*corev1.Node).GetName),
		},
		`watch 2, Owns: the informer is nil`: {reconcile, "maps", controller.Owns[*corev1.Pod](nil)},
	} {
		if c, err := r.mapKind.Reconcile(test.name, test.f, test.option); c != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Reconcile() = %v, %v, want %q in the error", c, err, want)
		}
	}
}

func TestWriterWritesTheKind(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		maps, err := controller.Writer(r.client, r.mapKind, writer.Options{FieldManager: "shop"})
		if err != nil {
			t.Fatal(err)
		}
		// An apply has the kind in its body.
		if _, _, err := maps.Apply(t.Context(), configMap("blue")); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.maps.Get("shop", "blue"); !ok {
			t.Error("the server does not have the applied object")
		}
		same(t, "the kind", fmt.Sprint(r.nodeKind.GroupVersionKind()), "/v1, Kind=Node")
		if _, err := controller.Writer(nil, r.podKind, writer.Options{}); err == nil {
			t.Error("Writer(nil, …) has no error")
		}
	})
}
