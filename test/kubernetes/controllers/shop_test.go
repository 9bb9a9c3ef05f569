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

// patience is how long tests wait for something that should come soon.
const patience = 3 * time.Minute

// shop is a namespace of a cluster, which has the name of the controller that is tested.
type shop struct {
	*cluster
	t         *testing.T
	namespace string
	states    [][]string // what record has found, call by call
}

func newShop(t *testing.T, c *cluster, name string) *shop {
	s := &shop{cluster: c, t: t, namespace: name}
	s.ok(c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
	return s
}

// ok fails the test if err is not nil: it takes what a call of the client returns.
func (s *shop) ok(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// until waits until f reports no problem.
func (s *shop) until(f func() (problem string)) {
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

// resources are those that the controllers write.
var resources = []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "endpoints"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
}

// record notes what the controllers have written. Before it is called, the test has waited for
// their last write.
func (s *shop) record() {
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
	// names that end in five random letters
	names = regexp.MustCompile(`\b(web-[a-z0-9]{8,10}|web|pi)-[a-z0-9]{5}\b`)
	// addresses of Pods, which follow from the names
	addresses = regexp.MustCompile(`\b10\.0\.\d+\.\d+\b`)
)

// labels select the Pods of a shop, but for those of Jobs.
var labels = map[string]string{"app": "web"}

func template(labels map[string]string, image string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{NodeName: node, RestartPolicy: restart, Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

// runsPods waits until so many Pods with labels run, and there are no others.
func (s *shop) runsPods(want int) {
	s.t.Helper()
	s.until(func() string {
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

// countsPods waits until the status of each ReplicaSet is that of its newest spec, all of its Pods
// ready and none on its way out, and until they have so many Pods in all.
func (s *shop) countsPods(want int32) {
	s.t.Helper()
	s.until(func() string {
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
			return fmt.Sprintf("the ReplicaSets want %d Pods, not %d", total, want)
		}
		return ""
	})
}
