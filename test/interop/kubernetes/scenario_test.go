// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/test/endpoints/kubeserver"
)

// patience is how long tests wait for something that should come soon.
const patience = time.Minute

// TestKubernetesControllers plays a scenario to Kubernetes' controllers on either engine, and
// compares the objects that the API has after each step.
func TestKubernetesControllers(t *testing.T) {
	var states [2][][]string // by engine and step
	for n, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			config := kubeserver.Start(t)
			runControllers(t, e, config)
			states[n] = play(t, config)
		})
	}
	if t.Failed() {
		return
	}
	for step := range states[0] {
		if theirs, ours := states[0][step], states[1][step]; !slices.Equal(theirs, ours) {
			t.Errorf("after step %d, only with %s the API has\n%s\nonly with %s\n%s", step+1,
				engines[0].name, without(theirs, ours), engines[1].name, without(ours, theirs))
		}
	}
}

// without returns the lines that others don't have.
func without(lines, others []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) }), "\n")
}

// scenario is an API server with controllers, and a stand-in for kubelets.
type scenario struct {
	t      *testing.T
	client kubernetes.Interface
	all    dynamic.Interface
}

// The names of the namespace, and of the node that all Pods are bound to.
const shop, node = "shop", "node"

// play plays the scenario and returns the state after each step.
func play(t *testing.T, config *rest.Config) (states [][]string) {
	config = rest.CopyConfig(config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	all, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{t: t, client: client, all: all}
	ctx, cancel := context.WithCancel(t.Context())
	kubelet := make(chan struct{})
	go func() { s.runPods(ctx); close(kubelet) }()
	defer func() { cancel(); <-kubelet }()
	for _, step := range []func(){s.deploy, s.update, s.scale, s.compute, s.collect, s.end} {
		step()
		states = append(states, s.state())
	}
	return states
}

// ok fails the test if err is not nil: it takes what a call of the client returns.
func (s *scenario) ok(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// until waits until f reports no problem.
func (s *scenario) until(f func() (problem string)) {
	s.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		problem := f()
		if problem == "" {
			return
		}
		if time.Since(began) > patience {
			s.t.Fatalf("after %v: %s", patience, problem)
		}
	}
}

// runPods does for Pods what kubelets would do: those of Jobs succeed, others become ready, and
// those that are to end do so. What fails is tried again in the next round.
func (s *scenario) runPods(ctx context.Context) {
	for n := 1; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		pods, err := s.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 0) > 0 {
				now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID))}
				_ = s.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now)
			}
			if pod.Status.Phase != corev1.PodPending {
				continue
			}
			n++
			pod.Status.Phase = corev1.PodRunning
			pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", n/250, n%250)
			pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			if pod.Labels[batchv1.JobNameLabel] != "" {
				pod.Status.Phase, pod.Status.Conditions = corev1.PodSucceeded, nil
			}
			_, _ = s.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
		}
	}
}

func template(labels map[string]string, image string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, RestartPolicy: restart, Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

var web = map[string]string{"app": "web"}

// deploy makes a Deployment behind a Service: ReplicaSets, Pods and endpoints follow.
func (s *scenario) deploy() {
	ctx := s.t.Context()
	s.ok(s.client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, metav1.CreateOptions{}))
	s.ok(s.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop}}, metav1.CreateOptions{}))
	s.ok(s.client.CoreV1().Services(shop).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: web, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}))
	s.ok(s.client.AppsV1().Deployments(shop).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: web},
			Template: template(web, "web:1", corev1.RestartPolicyAlways),
		},
	}, metav1.CreateOptions{}))
	s.untilReady(3)
}

// update rolls out another image.
func (s *scenario) update() {
	s.change(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:2" })
	s.untilReady(3)
}

func (s *scenario) scale() {
	s.change(func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) })
	s.untilReady(1)
}

func (s *scenario) change(how func(*appsv1.Deployment)) {
	s.t.Helper()
	deployments := s.client.AppsV1().Deployments(shop)
	s.ok(nil, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := deployments.Get(s.t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(d)
		_, err = deployments.Update(s.t.Context(), d, metav1.UpdateOptions{})
		return err
	}))
}

// untilReady waits until the Deployment has so many Pods, all of the newest template and ready, and
// until both kinds of endpoints have them.
func (s *scenario) untilReady(pods int) {
	s.t.Helper()
	ctx := s.t.Context()
	s.until(func() string {
		d, err := s.client.AppsV1().Deployments(shop).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if now := d.Status; now.ObservedGeneration != d.Generation || now.Replicas != int32(pods) || now.UpdatedReplicas != now.Replicas || now.AvailableReplicas != now.Replicas {
			return fmt.Sprintf("the Deployment has %+v", now)
		}
		endpoints, err := s.client.CoreV1().Endpoints(shop).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		addresses := 0
		for _, subset := range endpoints.Subsets {
			addresses += len(subset.Addresses)
		}
		list, err := s.client.DiscoveryV1().EndpointSlices(shop).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		sliced := 0
		for _, slice := range list.Items {
			sliced += len(slice.Endpoints)
		}
		if addresses != pods || sliced != pods {
			return fmt.Sprintf("%d addresses in Endpoints, %d in EndpointSlices", addresses, sliced)
		}
		return ""
	})
}

// compute makes a Job and waits until it is complete.
func (s *scenario) compute() {
	ctx, jobs := s.t.Context(), s.client.BatchV1().Jobs(shop)
	s.ok(jobs.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "pi"}, Spec: batchv1.JobSpec{
		Completions: ptr.To[int32](5), Parallelism: ptr.To[int32](2), Template: template(nil, "pi", corev1.RestartPolicyNever),
	}}, metav1.CreateOptions{}))
	s.until(func() string {
		job, err := jobs.Get(ctx, "pi", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if job.Status.Succeeded != 5 || job.Status.CompletionTime == nil {
			return fmt.Sprintf("the Job has %+v", job.Status)
		}
		return ""
	})
}

// collect deletes the Deployment, whose ReplicaSets and Pods follow, and the Job, which goes after
// its Pods.
func (s *scenario) collect() {
	ctx := s.t.Context()
	s.ok(nil, s.client.AppsV1().Deployments(shop).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}))
	s.ok(nil, s.client.BatchV1().Jobs(shop).Delete(ctx, "pi", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}))
	s.until(func() string {
		left := ""
		for _, resource := range []string{"replicasets", "jobs", "pods"} {
			if n := len(s.list(resource)); n > 0 {
				left += fmt.Sprintf("%d %s ", n, resource)
			}
		}
		return left
	})
}

// end deletes the namespace, with what it has.
func (s *scenario) end() {
	ctx, namespaces := s.t.Context(), s.client.CoreV1().Namespaces()
	s.ok(nil, namespaces.Delete(ctx, shop, metav1.DeleteOptions{}))
	s.until(func() string {
		namespace, err := namespaces.Get(ctx, shop, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("the namespace has %v, error %v", namespace.Status, err)
	})
}
