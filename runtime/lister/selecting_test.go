// SPDX-License-Identifier: Apache-2.0

package lister_test

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/lister"
)

func replicaSet(namespace, name string, selector *metav1.LabelSelector) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.ReplicaSetSpec{Selector: selector}}
}

func selectorOf(set *appsv1.ReplicaSet) *metav1.LabelSelector { return set.Spec.Selector }

func TestSelecting(t *testing.T) {
	app := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	sets := newStore(t,
		replicaSet("shop", "web", app),
		replicaSet("shop", "expression", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", "api"}}}}),
		replicaSet("shop", "absent", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "old", Operator: metav1.LabelSelectorOpDoesNotExist}}}),
		replicaSet("shop", "nil", nil),
		replicaSet("shop", "empty", &metav1.LabelSelector{}),
		replicaSet("shop", "invalid", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}),
		replicaSet("shop", "other", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "api"}}),
		replicaSet("elsewhere", "web", app),
		replicaSet("", "cluster", app),
	).Snapshot()
	for name, test := range map[string]struct {
		obj  metav1.Object
		want []string
	}{
		"a pod":                   {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{"app": "web"}}}, []string{"absent", "expression", "web"}},
		"a pod without labels":    {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}}, []string{"absent"}},
		"another namespace":       {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "empty", Labels: map[string]string{"app": "web"}}}, nil},
		"a cluster-scoped object": {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}, []string{"cluster"}},
		"nil":                     {nil, nil},
		"a nil pod":               {(*corev1.Pod)(nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, set := range lister.Selecting(sets, test.obj, selectorOf) {
				got = append(got, set.Name)
			}
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("Selecting returns %v, want %v", got, test.want)
			}
		})
	}
	if got := lister.Selecting(sets, &corev1.Pod{}, nil); got != nil {
		t.Errorf("Selecting without a selector function = %v, want nil", got)
	}
}

// One call replaces each lister expansion of client-go.
func ExampleSelecting() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-x2v", Labels: map[string]string{"app": "web"}}}
	app := map[string]string{"app": "web"}
	sets := newStore(fatal{}, replicaSet("shop", "web", &metav1.LabelSelector{MatchLabels: app}), replicaSet("shop", "api", nil)).Snapshot()
	services := newStore(fatal{}, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "front"}, Spec: corev1.ServiceSpec{Selector: app}}).Snapshot()
	budgets := newStore[*policyv1.PodDisruptionBudget](fatal{}).Snapshot()

	for _, set := range lister.Selecting(sets, pod, selectorOf) {
		fmt.Println("replica set", set.Name)
	}
	for _, service := range lister.Selecting(services, pod, func(s *corev1.Service) *metav1.LabelSelector {
		return metav1.SetAsLabelSelector(s.Spec.Selector)
	}) {
		fmt.Println("service", service.Name)
	}
	fmt.Println("budgets:", len(lister.Selecting(budgets, pod, func(b *policyv1.PodDisruptionBudget) *metav1.LabelSelector {
		return b.Spec.Selector
	})))
	// Output:
	// replica set web
	// service front
	// budgets: 0
}

type fatal struct{}

func (fatal) Fatal(v ...any) { panic(fmt.Sprint(v...)) }
