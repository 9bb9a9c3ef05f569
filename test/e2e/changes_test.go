// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestCreateUpdateDelete(t *testing.T) {
	t.Parallel()
	ns := shared.crates(t)
	f, i := crateInformer(t, shared.url, ns)
	h, _ := listen(t, i)
	runSynced(t, f)

	created := ns.create(t, crate("blue", func(c *Crate) { c.Spec.Ship = "Argo"; c.Spec.Ports = []string{"Oslo", "Kiel"} }))
	h.wantLines(0, "add blue")
	got, ok := i.Store().Snapshot().Get(object.Key{Namespace: ns.namespace, Name: "blue"})
	if !ok || got.GetUID() != created.GetUID() || got.Kind != "Crate" || got.APIVersion != "harbour.example.com/v1" ||
		got.Spec.Ship != "Argo" || len(got.Spec.Ports) != 2 || got.CreationTimestamp.IsZero() {
		t.Errorf("the store has %+v", got)
	}

	ns.setWeight(t, "blue", 5)
	h.wantLines(1, "update blue")
	if c, _ := i.Store().Snapshot().Get(object.KeyOf(got)); c.Spec.Weight != 5 || got.Spec.Weight != 0 {
		t.Errorf("weights %d and, in the object from before, %d; want 5 and 0", c.Spec.Weight, got.Spec.Weight)
	}

	// A write without a change is no event.
	ns.setWeight(t, "blue", 5)
	ns.delete(t, "blue")
	h.wantLines(2, "delete blue")
	agree(t, state{}, h, i.Store())
}

// TestRecreatedObjectIsDeleteAndAdd: one name, two objects, whether the informer watches or not.
func TestRecreatedObjectIsDeleteAndAdd(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"while watching": "delete blue", "while disconnected": "delete blue", "behind a 410": "delete blue unseen"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := shared.crates(t)
			p := newProxy(t, shared.url, nil)
			f, i := crateInformer(t, p.url, ns)
			h, _ := listen(t, i)
			ns.create(t, crate("blue"))
			runSynced(t, f)
			h.wantLines(0, "add blue")
			if name != "while watching" {
				p.disconnect(t)
			}
			ns.delete(t, "blue")
			ns.create(t, crate("blue"))
			switch name {
			case "while disconnected":
				p.setFaults(nil)
			case "behind a 410":
				ns.settle(t)
				p.setFaults(next(p, fault{refuse: expired}))
			}
			if name != "while watching" {
				p.cut()
			}
			h.wantLines(1, want, "add blue")
			agree(t, ns.state(t), h, i.Store())
		})
	}
}
