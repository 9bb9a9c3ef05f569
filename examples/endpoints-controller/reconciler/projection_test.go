// SPDX-License-Identifier: Apache-2.0

package reconciler_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/informers"
	projections "github.com/informer-gen/informer-gen/examples/endpoints-controller/generated/projections/core/v1"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestPodEndpointsMatchPods: in every format, by a list and by events, the generated projection
// decodes the same values as whole Pods.
func TestPodEndpointsMatchPods(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	full := func(p *corev1.Pod) {
		p.Annotations = map[string]string{"note": "not read"}
		p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
		p.Finalizers = []string{"example.com/hold"}
		p.Spec = corev1.PodSpec{
			NodeName: "node-1", Hostname: "one", Subdomain: "web",
			Containers: []corev1.Container{
				{
					Name: "web", Image: "web:1", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
					Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
				},
				{Name: "plain"},
			},
			InitContainers: []corev1.Container{{Name: "proxy", RestartPolicy: &always, Ports: []corev1.ContainerPort{{ContainerPort: 53}}}, {Name: "setup"}},
		}
		p.Status.Message = "not read"
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Unix(1_600_000_000, 0))
	}
	inBubble(t, func(t *testing.T, r *rig) {
		r.pods.Create(pod("10.0.0.1", "web", full))
		r.pods.Create(pod("10.0.0.2", "web"))
		client, err := source.NewClient(r.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		for i, format := range []source.Format{source.JSON, source.Protobuf} {
			factory := informers.NewSharedInformerFactory(client, informer.WithFormats(format))
			pods, slim := factory.Core().V1().Pods(), factory.Core().V1().PodEndpoints()
			pods.Informer()
			slim.Informer()
			if err := factory.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.pods.Create(pod(fmt.Sprint("10.0.1.", i), "late", full))
			time.Sleep(time.Minute) // of the bubble: more than the informers need
			synctest.Wait()
			n := 0
			for p := range pods.Lister().All() {
				n++
				want := projections.NewPodEndpoint(p)
				got, err := slim.Lister().PodEndpoints(p.Namespace).Get(p.Name)
				if err != nil || !equality.Semantic.DeepEqual(got, want) {
					t.Errorf("%v: got %+v, %v, want %+v", format, got, err, want)
				}
			}
			if n != 3+i {
				t.Errorf("%v: the store has %d Pods", format, n)
			}
			if err := factory.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}
