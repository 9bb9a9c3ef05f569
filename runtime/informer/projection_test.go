// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/internal/placement"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestProjectionsMatchFullObjects has informers of a projection of Pods, in each format and with a
// transform, beside one of Pods. After each change all have the same state.
func TestProjectionsMatchFullObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := newShop()
		for i := range 40 {
			shop.Pods.Create(fullPod("shop", i%3, i))
		}
		f := shop.Factory(t,
			factories.WithKind(podResource, factories.KindOptions[*corev1.Pod]{ResyncPeriod: 0}),
			informer.WithoutManagedFields(), informer.WithoutAnnotations("example.com/config"),
		)
		full := podsOf(f)
		projections := map[string]*informer.SharedIndexInformer[*placement.PodPlacement]{}
		for _, format := range []source.Format{source.JSON, source.Protobuf} {
			projections[format.String()] = factories.For[*placement.PodPlacement](f, podResource, informer.WithFormats(format), informer.WithName(format.String()))
		}
		projections["transformed"] = factories.For[*placement.PodPlacement](f, podResource, informer.WithName("transformed"),
			informer.WithTransform(func(p *placement.PodPlacement) (*placement.PodPlacement, error) { return p, nil }))
		projections["transformed as any type"] = factories.For[*placement.PodPlacement](f, podResource, informer.WithName("any"),
			informer.WithTransform(func(obj object.Object) (object.Object, error) {
				obj.SetManagedFields(nil) // which the projection doesn't have
				obj.SetLabels(maps.Clone(obj.GetLabels()))
				return obj, nil
			}))
		run(t, f)
		defer shutdown(t, f)
		compare := func(when string) {
			t.Helper()
			time.Sleep(time.Minute) // until watches are open again
			synctest.Wait()
			want := map[object.Key]*placement.PodPlacement{}
			for pod := range full.Store().Snapshot().All() {
				want[object.KeyOf(pod)] = placement.Of(pod)
			}
			for name, i := range projections {
				got := map[object.Key]*placement.PodPlacement{}
				for p := range i.Store().Snapshot().All() {
					got[object.KeyOf(p)] = p
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %s (-full +projection):\n%s", name, when, diff)
				}
			}
		}
		compare("after the list")
		for i := range 10 {
			moved := fullPod("shop", i%3, i)
			moved.Spec.NodeName = fmt.Sprint("other-", i)
			moved.Status.Phase = corev1.PodFailed
			shop.Pods.Update(moved)
		}
		shop.Pods.Delete("shop", fullPod("shop", 0, 30).Name)
		shop.Pods.Create(pod("other", "one", "node-1"))
		compare("after events")
		shop.Pods.Delete("other", "one")
		shop.Compact()
		shop.EndWatches()
		compare("after a relist")
	})
}
