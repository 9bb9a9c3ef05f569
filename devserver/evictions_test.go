// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// createRunning creates a Pod on a node, with a phase and perhaps ready.
func createRunning(t *testing.T, c kubernetes.Interface, name string, phase corev1.PodPhase, ready bool) *corev1.Pod {
	t.Helper()
	pod := newPod(name)
	pod.Labels, pod.Spec.NodeName = map[string]string{"app": "web"}, "node"
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = phase
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if pod, err = c.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pod
}

// createBudget creates a budget for the Pods of createRunning, and writes its status.
func createBudget(t *testing.T, c kubernetes.Interface, name string, status policyv1.PodDisruptionBudgetStatus) {
	t.Helper()
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
	b, err := c.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), b, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Status = status
	if _, err := c.PolicyV1().PodDisruptionBudgets("default").UpdateStatus(t.Context(), b, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// evict sends one request. A clientset's EvictV1 repeats a refused one for minutes, as the answer's
// Retry-After allows.
func evict(t *testing.T, c kubernetes.Interface, name string, options *metav1.DeleteOptions) error {
	t.Helper()
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}, DeleteOptions: options}
	return c.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name(name).SubResource("eviction").
		Body(eviction).MaxRetries(0).Do(t.Context()).Error()
}

func TestEviction(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	pods, budgets := c.CoreV1().Pods("default"), c.PolicyV1().PodDisruptionBudgets("default")
	type budget = policyv1.PodDisruptionBudgetStatus
	for name, test := range map[string]struct {
		phase   corev1.PodPhase
		ready   bool
		budgets []budget
		refused string // a part of the error; "" if the Pod goes
		left    int32  // disruptions that the first budget allows afterwards
	}{
		"no budget":                {phase: corev1.PodRunning, ready: true},
		"an allowed disruption":    {phase: corev1.PodRunning, ready: true, budgets: []budget{{ObservedGeneration: 1, DisruptionsAllowed: 2}}, left: 1},
		"none allowed":             {phase: corev1.PodRunning, ready: true, budgets: []budget{{ObservedGeneration: 1, DesiredHealthy: 1, CurrentHealthy: 1}}, refused: "needs 1 healthy pods and has 1 currently"},
		"none allowed any more":    {phase: corev1.PodRunning, ready: true, budgets: []budget{{ObservedGeneration: 1, DesiredHealthy: 1, CurrentHealthy: 2}}, refused: "does not allow evicting pods currently"},
		"a budget without status":  {phase: corev1.PodRunning, ready: true, budgets: []budget{{}}, refused: "is still being processed by the server"},
		"two budgets":              {phase: corev1.PodRunning, ready: true, budgets: []budget{{}, {}}, refused: "more than one PodDisruptionBudget"},
		"a Pod that isn't healthy": {phase: corev1.PodRunning, budgets: []budget{{ObservedGeneration: 1, DesiredHealthy: 1, CurrentHealthy: 1}}},
		"no healthy Pods":          {phase: corev1.PodRunning, budgets: []budget{{ObservedGeneration: 1, DesiredHealthy: 1}}, refused: "needs 1 healthy pods and has 0 currently"},
		"a pending Pod":            {phase: corev1.PodPending, budgets: []budget{{}}},
		"a Pod that has ended":     {phase: corev1.PodSucceeded, budgets: []budget{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				err := pods.DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{})
				if err = errors.Join(err, budgets.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})); err != nil {
					t.Error(err)
				}
			}()
			createRunning(t, c, "web", test.phase, test.ready)
			for i, status := range test.budgets {
				createBudget(t, c, string(rune('a'+i)), status)
			}
			if err := evict(t, c, "web", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); (err == nil) != (test.refused == "") {
				t.Errorf("a dry run returns %v", err)
			}
			err := evict(t, c, "web", &metav1.DeleteOptions{GracePeriodSeconds: new(int64(30))})
			pod, missing := pods.Get(t.Context(), "web", metav1.GetOptions{})
			if test.refused != "" {
				if err == nil || missing != nil || pod.DeletionTimestamp != nil {
					t.Fatalf("the eviction returns %v, and leaves %v, %v", err, pod, missing)
				}
				if status, ok := err.(apierrors.APIStatus); !ok || !strings.Contains(toJSON(t, status.Status()), test.refused) {
					t.Errorf("the eviction returns %v, want %q", toJSON(t, status), test.refused)
				}
				if len(test.budgets) == 1 && !apierrors.IsTooManyRequests(err) {
					t.Errorf("the eviction returns %v, want TooManyRequests", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			switch ended := test.phase == corev1.PodSucceeded; {
			case ended && !apierrors.IsNotFound(missing):
				t.Errorf("the evicted Pod is %v, %v, want NotFound", pod, missing)
			case !ended && (missing != nil || pod.DeletionTimestamp == nil || pod.Status.Conditions[len(pod.Status.Conditions)-1].Reason != "EvictionByEvictionAPI"):
				t.Errorf("the evicted Pod is %v, %v, want deleted, with a condition", pod, missing)
			}
			if len(test.budgets) == 0 {
				return
			}
			b, err := budgets.Get(t.Context(), "a", metav1.GetOptions{})
			_, disrupted := b.Status.DisruptedPods["web"]
			if err != nil || b.Status.DisruptionsAllowed != test.left || disrupted != (test.left > 0) {
				t.Errorf("the budget has the status %+v, %v, want %d disruptions allowed", b.Status, err, test.left)
			}
		})
	}
}

// The last disruption that a budget allows is given to one eviction.
func TestEvictionOfTheLastAllowed(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	createBudget(t, c, "a", policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 5, DesiredHealthy: 4})
	results := make(chan error, 5)
	for i := range cap(results) {
		name := string(rune('a' + i))
		createRunning(t, c, name, corev1.PodRunning, true)
		go func() { results <- evict(t, c, name, nil) }()
	}
	evicted := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			evicted++
		case !apierrors.IsTooManyRequests(err):
			t.Errorf("an eviction returns %v, want TooManyRequests", err)
		}
	}
	if evicted != 1 {
		t.Errorf("%d Pods are evicted, want 1", evicted)
	}
}

func TestEvictionRefusesBadRequests(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c := typed(t, s)
	pod := createRunning(t, c, "web", corev1.PodRunning, true)
	if err := evict(t, c, "absent", nil); !apierrors.IsNotFound(err) {
		t.Errorf("an eviction of no Pod returns %v, want NotFound", err)
	}
	for name, conditions := range map[string]metav1.Preconditions{
		"uid":             {UID: new(pod.UID + "x")},
		"resourceVersion": {ResourceVersion: new("1")},
	} {
		if err := evict(t, c, "web", &metav1.DeleteOptions{Preconditions: &conditions}); !apierrors.IsConflict(err) {
			t.Errorf("an eviction with another %s returns %v, want Conflict", name, err)
		}
	}
	other := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	err := c.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("web").SubResource("eviction").Body(other).Do(t.Context()).Error()
	if !apierrors.IsBadRequest(err) {
		t.Errorf("an eviction of another name returns %v, want BadRequest", err)
	}
	left, err := c.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || left.ResourceVersion != pod.ResourceVersion {
		t.Errorf("refused evictions leave the Pod %v, %v", left, err)
	}
	if err := evict(t, c, "web", &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}); err != nil {
		t.Errorf("an eviction of this very Pod returns %v", err)
	}
}
