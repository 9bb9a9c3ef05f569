// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

var errWeightless = errors.New("a weight below zero")

// transforms counts how often a transform was called with each state of each object.
type transforms struct {
	mu    sync.Mutex // guards what follows
	calls map[string]int
}

// crate removes the ship, doubles the weight, and fails if the weight is below zero.
func (tr *transforms) crate(c *Crate) (*Crate, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.calls == nil {
		tr.calls = map[string]int{}
	}
	tr.calls[c.Name+"@"+c.ResourceVersion]++
	if c.Spec.Weight < 0 {
		return nil, errWeightless
	}
	c.Spec.Ship = ""
	c.Spec.Weight *= 2
	return c, nil
}

func (tr *transforms) counts() map[string]int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return maps.Clone(tr.calls)
}

// Each state that the server sends is transformed once, before a reader or a handler gets it, and
// once more if the server sends it again.
func TestTransformOnce(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			ns.createMany(t, 5, func(c *Crate, n int) { c.Spec = CrateSpec{Ship: "Argo", Weight: int64(n)} })
			var tr transforms
			p := newProxy(t, shared.url, nil)
			f := factories.New(connect(t, p.url), append(opts, informer.WithNamespace(ns.namespace))...)
			i := factories.For[*Crate](f, crates, informer.WithTransform(tr.crate), informer.WithIndexes(byWeight, byShip))
			h, _ := listen(t, i)
			also, _ := listen(t, i)
			runSynced(t, f)
			ns.load(t, "crate-001", 10)
			ns.delete(t, "crate-002")
			agree(t, ns.state(t), h, i.Store())
			agree(t, ns.state(t), also)
			calls := tr.counts()
			if len(calls) != 7 { // the deletion has a resourceVersion of its own
				t.Errorf("%d states were transformed, want 7: %v", len(calls), calls)
			}
			for state, n := range calls {
				if n != 1 {
					t.Errorf("%s was transformed %d times", state, n)
				}
			}
			if got := names(byWeight.List(i.Store().Snapshot(), 20)); fmt.Sprint(got) != "[crate-001]" {
				t.Errorf("twice ten has %q", got)
			}
			if n := byShip.Len(i.Store().Snapshot(), ""); n != 4 {
				t.Errorf("%d crates without a ship, want 4", n)
			}

			// A relist brings the rest again: they are transformed again, and no handler is called.
			told := len(h.told())
			p.disconnect(t)
			p.setFaults(next(p, fault{status: http.StatusGone}))
			p.cut()
			ns.load(t, "crate-003", 30)
			h.awaitLine("update crate-003")
			agree(t, ns.state(t), h, i.Store())
			if got := h.told()[told:]; fmt.Sprint(got) != "[update crate-003]" {
				t.Errorf("callbacks after the relist: %q", got)
			}
			for c := range i.Store().Snapshot().All() {
				if c.Spec.Ship != "" {
					t.Errorf("%s is not transformed", c.Name)
				}
			}
		})
	}
}

// An object that can't be transformed: the informer reports which and why, keeps its objects, and
// goes on as soon as the object is fixed.
func TestTransformFails(t *testing.T) {
	t.Parallel()
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			ns.createMany(t, 3)
			ns.create(t, crate("bad", func(c *Crate) { c.Spec.Weight = -1 }))
			var mu sync.Mutex // guards heard
			var heard []string
			var tr transforms
			f := factories.New(connect(t, shared.url), append(opts, soon, informer.WithNamespace(ns.namespace),
				informer.WithErrorHandler(func(name string, err error) {
					mu.Lock()
					defer mu.Unlock()
					heard = append(heard, fmt.Sprint(name, ": ", err))
				}))...)
			i := factories.For[*Crate](f, crates, informer.WithTransform(tr.crate))
			h, _ := listen(t, i)
			run(t, f)

			// In the first list.
			ctx := deadline(t)
			err := f.WaitForCacheSync(ctx, informer.FailOn())
			var failed *source.TransformError
			if !errors.Is(err, errWeightless) || ctx.Err() != nil || !errors.As(err, &failed) || failed.Key != (object.Key{Namespace: ns.namespace, Name: "bad"}) {
				t.Errorf("WaitForCacheSync gives %v, want the object and the reason", err)
			}
			if s := i.Status(); s.Synced || s.Objects != 0 || s.Reflector.BadData == 0 {
				t.Errorf("the informer has synced, or hides the failure: %v", s)
			}
			ns.load(t, "bad", 1)
			if err := f.WaitForCacheSync(deadline(t)); err != nil {
				t.Fatal(err)
			}
			agree(t, ns.state(t), h, i.Store())

			// In an event. What was there stays.
			before := ns.state(t)
			ns.load(t, "bad", -2)
			awaitStatus(t, i, "in trouble", func(s informer.Status) bool { return s.Reflector.Reason == reason.Transform })
			if s := i.Status(); !errors.Is(s.Reflector.LastError, errWeightless) || !s.Synced {
				t.Errorf("the status is %v", s)
			}
			agree(t, before, h, i.Store())
			ns.load(t, "bad", 2)
			ns.load(t, "crate-000", 5)
			agree(t, ns.state(t), h, i.Store())

			// And it may simply go.
			ns.load(t, "bad", -3)
			awaitStatus(t, i, "in trouble", func(s informer.Status) bool { return s.Reflector.Reason == reason.Transform })
			ns.load(t, "bad", 3)
			ns.delete(t, "bad")
			agree(t, ns.state(t), h, i.Store())
			ns.load(t, "crate-001", 5)
			h.awaitLine("update crate-001")
			mu.Lock()
			defer mu.Unlock()
			if len(heard) < 3 {
				t.Errorf("the error handler heard %q", heard)
			}
			for _, line := range heard {
				if !strings.Contains(line, "crates.harbour.example.com/v1: ") || !strings.Contains(line, ns.namespace+"/bad") {
					t.Errorf("the error handler heard %q", line)
				}
			}
		})
	}
}

// Fields that a real server puts on objects and that only waste memory are dropped, whatever the
// type; other fields are kept.
func TestDroppedFields(t *testing.T) {
	t.Parallel()
	const applied = "kubectl.kubernetes.io/last-applied-configuration"
	for name, opts := range bothWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			apply := func(name string, weight int64, managers ...string) {
				t.Helper()
				for _, manager := range managers {
					u := &unstructured.Unstructured{Object: map[string]any{
						"apiVersion": "harbour.example.com/v1", "kind": "Crate",
						"metadata": map[string]any{"name": name, "annotations": map[string]any{
							applied: strings.Repeat("x", 1000), "by-" + manager: "yes",
						}},
						"spec": map[string]any{"weight": weight},
					}}
					if _, err := ns.client().Apply(deadline(t), name, u, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
						t.Fatal(err)
					}
				}
			}
			apply("early", 1, "kubectl", "controller")
			whole := factories.New(connect(t, shared.url), append(opts, informer.WithNamespace(ns.namespace))...)
			full := factories.For[*Crate](whole, crates)
			f := factories.New(connect(t, shared.url), append(opts, informer.WithNamespace(ns.namespace),
				informer.WithoutManagedFields(), informer.WithoutAnnotations(applied))...)
			typed := factories.For[*Crate](f, crates)
			untyped := factories.For[*unstructured.Unstructured](f, crates)
			metadata := factories.ForMetadata(f, crates, informer.WithoutAnnotations("by-kubectl"))
			fullHistory, _ := listen(t, full)
			typedHistory, _ := listen(t, typed)
			untypedHistory, _ := listen(t, untyped)
			metadataHistory, _ := listen(t, metadata)
			runSynced(t, whole)
			runSynced(t, f)
			apply("late", 2, "kubectl", "controller")
			apply("early", 3, "controller")
			want := ns.state(t)
			agree(t, want, fullHistory, full.Store())
			agree(t, want, typedHistory, typed.Store())
			agree(t, want, untypedHistory, untyped.Store())
			agree(t, want, metadataHistory, metadata.Store())

			for key := range want {
				all, _ := full.Store().Snapshot().Get(key)
				if len(all.ManagedFields) == 0 || all.Annotations[applied] == "" || len(all.Annotations) != 3 {
					t.Fatalf("the server sends %+v, so this test shows nothing", all.ObjectMeta)
				}
				c, _ := typed.Store().Snapshot().Get(key)
				u, _ := untyped.Store().Snapshot().Get(key)
				m, _ := metadata.Store().Snapshot().Get(key)
				for _, got := range []object.Object{c, u, m} {
					want := map[string]string{"by-kubectl": "yes", "by-controller": "yes"}
					if got == object.Object(m) {
						delete(want, "by-kubectl")
					}
					if len(got.GetManagedFields()) != 0 || !maps.Equal(got.GetAnnotations(), want) {
						t.Errorf("%T %s has managed fields %v, annotations %v", got, key, got.GetManagedFields(), got.GetAnnotations())
					}
				}
				if _, has, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields"); has {
					t.Error("the unstructured object has managedFields, if empty ones")
				}
				if weight, _, _ := unstructured.NestedInt64(u.Object, "spec", "weight"); c.Spec.Weight != all.Spec.Weight || weight != all.Spec.Weight {
					t.Errorf("%s lost more than was to be dropped: %+v, %v", key, c.Spec, u.Object)
				}
			}
		})
	}
}
