// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	cloudproviderapi "k8s.io/cloud-provider/api"
	"k8s.io/cloud-provider/controllers/node"
	"k8s.io/cloud-provider/controllers/nodelifecycle"
	"k8s.io/cloud-provider/controllers/service"
	"k8s.io/cloud-provider/fake"
	"k8s.io/component-base/featuregate"
	controllersmetrics "k8s.io/component-base/metrics/prometheus/controllers"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/devserver/devservertest"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// TestCloudControllers runs the controllers of nodes, of the nodes' lifecycle, and of load
// balancers. The cloud has the nodes one and two, and no node named lost.
func TestCloudControllers(t *testing.T) {
	onBoth(t, func(t *testing.T, e engine) []string {
		server := devservertest.Start(t, devserver.Options{BuiltInKinds: true})
		client, err := kubernetes.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		nodes, services := client.CoreV1().Nodes(), client.CoreV1().Services("default")
		createNode := func(name string, ready corev1.ConditionStatus) {
			t.Helper()
			_, err := nodes.Create(t.Context(), &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.NodeSpec{Taints: []corev1.Taint{{
					Key: cloudproviderapi.TaintExternalCloudProvider, Value: "true", Effect: corev1.TaintEffectNoSchedule,
				}}},
				Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		createService := func(name string) {
			t.Helper()
			_, err := services.Create(t.Context(), &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}}},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		createNode("one", corev1.ConditionTrue)
		runCloudControllers(t, newControllers(t), e, server, client)
		balanced := func(name string) {
			t.Helper()
			poll.Until(t, func() error {
				s, err := services.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if len(s.Status.LoadBalancer.Ingress) != 1 || len(s.Finalizers) != 1 {
					return fmt.Errorf("the Service %s has the status %v and finalizers %v", name, s.Status, s.Finalizers)
				}
				return nil
			})
		}
		initialized := func(name string) {
			t.Helper()
			poll.Until(t, func() error {
				n, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				if len(n.Spec.Taints) != 0 || n.Spec.ProviderID == "" || len(n.Status.Addresses) == 0 {
					return fmt.Errorf("the Node %s has the taints %v, the provider id %q and the addresses %v", name, n.Spec.Taints, n.Spec.ProviderID, n.Status.Addresses)
				}
				return nil
			})
		}
		// The Service controller has a race between simultaneous changes of nodes and Services. So
		// nodes come first.
		initialized("one")
		createNode("two", corev1.ConditionTrue)
		initialized("two")
		createNode("lost", corev1.ConditionFalse)
		poll.Until(t, func() error {
			if _, err := nodes.Get(t.Context(), "lost", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the Node lost is still there: %v", err)
			}
			return nil
		})
		for _, name := range []string{"first", "second", "third"} {
			createService(name)
			balanced(name)
		}
		if err := services.Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		poll.Until(t, func() error {
			if _, err := services.Get(t.Context(), "first", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the Service first is still there: %v", err)
			}
			return nil
		})
		patch := []byte(`{"spec":{"type":"ClusterIP"}}`)
		if _, err := services.Patch(t.Context(), "second", types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		poll.Until(t, func() error {
			s, err := services.Get(t.Context(), "second", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(s.Status.LoadBalancer.Ingress) != 0 || len(s.Finalizers) != 0 {
				return fmt.Errorf("the Service second has the status %v and finalizers %v", s.Status, s.Finalizers)
			}
			return nil
		})
		return endState(t, server.Config(), corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithResource("services"))
	})
}

func runCloudControllers(t *testing.T, c *controllers, e engine, server *devserver.Server, client kubernetes.Interface) {
	t.Helper()
	factory := e.coreFactory(t, server.Config())
	metrics := controllersmetrics.NewControllerManagerMetrics("interop")
	cloud := &fake.Cloud{
		ExternalIP: net.IPv4(192, 0, 2, 1), EnableInstancesV2: true, ExistsByProviderID: true,
		Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.7"}},
		ProviderID: map[types.NodeName]string{"one": "fake://one", "two": "fake://two"},
	}
	core := factory.Core().V1()
	balancing, err := service.New(cloud, client, core.Services(), core.Nodes(), "cluster", featuregate.NewFeatureGate())
	if err != nil {
		t.Fatal(err)
	}
	naming, err := node.NewCloudNodeController(core.Nodes(), client, cloud, time.Second, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	empty := &fake.Cloud{EnableInstancesV2: true} // gets questions about unready nodes only
	removing, err := nodelifecycle.NewCloudNodeLifecycleController(core.Nodes(), client, empty, 100*time.Millisecond, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.runFactory(factory)
	c.run(func(ctx context.Context) { balancing.Run(ctx, 1, metrics) })
	c.run(func(ctx context.Context) { naming.RunWithContext(ctx, metrics) })
	c.run(func(ctx context.Context) { removing.Run(ctx, metrics) })
}
