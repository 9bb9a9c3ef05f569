// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// TestKindByUID: a deleted object has no bucket, and one created again has another one.
func TestKindByUID(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := newHandRing(partition.ByUID, 1024)
		first := r.maps.Create(configMap("blue"))
		mine := ring.bucketOf(first)
		ring.grant(mine)
		_, calls := kindOf(r, r.mapKind, controller.Options{Ring: ring}, controller.Owns(r.podInformer))
		same(t, "held", calls.take(), []string{"blue"})
		controls := func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "blue", UID: first.UID, Controller: ptr.To(true)}}
		}
		r.pods.Create(pod("p", controls))
		same(t, "an owned Pod", calls.take(), []string{"blue"})
		r.maps.Delete("shop", "blue")
		same(t, "deleted", calls.take(), []string{})
		r.pods.Delete("shop", "p")
		same(t, "an owned Pod deleted", calls.take(), []string{})
		again := first
		for mine.Contains(ring.bucketOf(again)) {
			again = r.maps.Create(configMap("blue"))
			if calls.take(); mine.Contains(ring.bucketOf(again)) {
				r.maps.Delete("shop", "blue")
			}
		}
		r.maps.Update(again)
		same(t, "created again, in another bucket", calls.take(), []string{})
		ring.grant(ring.bucketOf(again))
		same(t, "granted", calls.take(), []string{"blue"})
	})
}

// enqueuer is another worker of a ring. A revoke may reach it before the controller.
type enqueuer struct {
	*partition.Claims
	c *controller.Controller
}

func (e enqueuer) Revoke(partition.Set) { e.c.Enqueue(key("a")) }

func (enqueuer) Queued([]int) {}

// TestHandOutGoesByTheRing: a queued key is dropped if its object is in a bucket of another process
// by now, or if it was queued during a revoke.
func TestHandOutGoesByTheRing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ring := newHandRing(partition.ByUID, 1024)
		first := r.maps.Create(configMap("blue"))
		mine := ring.bucketOf(first)
		ring.grant(mine)
		calls := &calls{do: sleep(time.Minute)}
		r.run(calls, controller.Options{Ring: ring}, controller.For(r.mapInformer))
		r.maps.Update(first)
		for again := first; mine.Contains(ring.bucketOf(again)); synctest.Wait() {
			r.maps.Delete("shop", "blue")
			again = r.maps.Create(configMap("blue"))
		}
		time.Sleep(time.Hour)
		same(t, "moved while it was queued", calls.take(), []string{"shop/blue"})

		ring = newHandRing(partition.ByKey, 1)
		ring.grant(ring.all())
		c, _ := r.run(calls, controller.Options{Ring: ring})
		ring.hub.AddWorker(enqueuer{partition.NewClaims(t.Context(), ring.hub), c})
		ring.hub.Revoke(ring.all())
		same(t, "queued during the revoke", calls.take(), []string{})
		running, queued := ring.count(ring.all())
		same(t, "in the queue", []int{running, queued}, []int{0, 0})
	})
}

// TestKeysOfOwnedObjects: a controller for Pods owned by a root has them in the root's bucket.
func TestKeysOfOwnedObjects(t *testing.T) {
	for _, by := range []partition.By{partition.ByKey, partition.ByUID} {
		inBubble(t, func(t *testing.T, r *rig) {
			ring := newHandRing(by, 1024)
			owner := r.maps.Create(configMap("owner"))
			r.pods.Create(pod("p", func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, Controller: ptr.To(true)}}
			}))
			ring.grant(ring.bucketOf(owner))
			_, calls := kindOf(r, r.podKind, controller.Options{Ring: ring})
			same(t, by.String(), calls.take(), []string{"p"})
		})
	}
}

func TestInvalidRings(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for name, test := range map[string]struct {
			ring    controller.Ring
			watches []controller.Watch
			want    string
		}{
			"a nil pointer":  {(*handRing)(nil), nil, "the Ring is nil"},
			"without a hub":  {&handRing{}, nil, "the Ring is nil"},
			"UIDs of no For": {newHandRing(partition.ByUID, 8), nil, "has no For"},
			"UIDs":           {newHandRing(partition.ByUID, 8), []controller.Watch{controller.For(r.mapInformer)}, ""},
			"keys":           {newHandRing(partition.ByKey, 8), nil, ""},
		} {
			_, err := controller.New("test", (&calls{}).reconcile, optionsOf(controller.Options{Ring: test.ring}, test.watches)...)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		}
	})
}
