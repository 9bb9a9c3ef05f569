// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/informer-gen/informer-gen/test/internal/endstate"
)

// patience bounds each wait.
const patience = 3 * time.Minute

// scenario is a namespace of a cluster, named after the controller under test.
type scenario struct {
	*cluster
	t         *testing.T
	namespace string
	states    [][]string // the objects found by each record
}

func newScenario(t *testing.T, c *cluster, name string) *scenario {
	s := &scenario{cluster: c, t: t, namespace: name}
	s.ok(c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	return s
}

// ok takes the results of a client's method, and fails the test if err is not nil.
func (s *scenario) ok(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// poll waits until f returns "".
func (s *scenario) poll(f func() (problem string)) {
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

// resources are the resources written by the controllers.
var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "endpoints"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
}

// record records the objects written by the controllers. The caller has waited for their last
// write.
func (s *scenario) record() {
	s.t.Helper()
	var state []string
	for _, resource := range resources {
		list, err := s.all.Resource(resource).Namespace(s.namespace).List(s.t.Context(), metav1.ListOptions{})
		s.ok(nil, err)
		lines, err := endstate.Lines(list.Items)
		s.ok(nil, err)
		for _, line := range lines {
			state = append(state, addresses.ReplaceAllString(names.ReplaceAllString(line, "$1-*"), "*"))
		}
	}
	slices.Sort(state)
	s.states = append(s.states, state)
}

var (
	// generated names: five random letters at the end
	names = regexp.MustCompile(`\b(web-[a-z0-9]{8,10}|web|pi)-[a-z0-9]{5}\b`)
	// addresses of Pods, made from their names
	addresses = regexp.MustCompile(`\b10\.0\.\d+\.\d+\b`)
)

// labels select the Pods of a scenario, except Pods of Jobs.
var labels = map[string]string{"app": "web"}

func template(labels map[string]string, image string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, RestartPolicy: restart, Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

// awaitPods waits until exactly want Pods have labels, and all of them run.
func (s *scenario) awaitPods(want int) {
	s.t.Helper()
	s.poll(func() string {
		pods, err := s.client.CoreV1().Pods(s.namespace).List(s.t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return err.Error()
		}
		running := 0
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != want || len(pods.Items) != want {
			return fmt.Sprintf("%d of %d Pods run, want %d", running, len(pods.Items), want)
		}
		return ""
	})
}

// awaitReplicaSets waits until the status of each ReplicaSet is up to date, all its Pods are ready
// and none is terminating, and until the ReplicaSets have want Pods in all.
func (s *scenario) awaitReplicaSets(want int32) {
	s.t.Helper()
	s.poll(func() string {
		sets, err := s.client.AppsV1().ReplicaSets(s.namespace).List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		total := int32(0)
		for _, set := range sets.Items {
			n := *set.Spec.Replicas
			total += n
			now := set.Status
			now.TerminatingReplicas = ptr.To(ptr.Deref(now.TerminatingReplicas, 0))
			done := appsv1.ReplicaSetStatus{
				Replicas: n, FullyLabeledReplicas: n, ReadyReplicas: n, AvailableReplicas: n, TerminatingReplicas: new(int32), ObservedGeneration: set.Generation,
			}
			if !reflect.DeepEqual(now, done) {
				return fmt.Sprintf("%s has the status %+v, want %d Pods", set.Name, set.Status, n)
			}
		}
		if total != want {
			return fmt.Sprintf("the ReplicaSets have %d Pods, want %d", total, want)
		}
		return ""
	})
}
