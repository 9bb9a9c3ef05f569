// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log collects the reports of a Detector.
type log struct {
	mu        sync.Mutex // guards the rest
	mutations []Mutation
}

func (l *log) report(m Mutation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mutations = append(l.mutations, m)
}

// take returns the reports since the last call.
func (l *log) take() []Mutation {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := slices.Clone(l.mutations)
	l.mutations = nil
	return taken
}

// newPod returns a Pod with a value of nearly every kind of field.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: "uid-" + "1", ResourceVersion: "17", Generation: 3,
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
			Labels:            map[string]string{"app": "blue", "tier": "front"},
			Finalizers:        []string{"samples.io/a", "samples.io/b"},
			OwnerReferences:   []metav1.OwnerReference{{Name: "owner", Controller: new(true)}},
			ManagedFields:     []metav1.ManagedFieldsEntry{{Manager: "kubectl", FieldsV1: fieldsV1(`{"f:spec":{}}`)}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-7",
			Containers: []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}, {
				Name: "c", Image: "c:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU:    resource.MustParse("1500m"),
					corev1.ResourceMemory: *resource.NewQuantity(1<<30, resource.BinarySI),
				}},
				LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)},
				}},
			}},
		},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func newUnstructured(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samples.io/v1", "kind": "Widget",
		"metadata": map[string]any{
			"namespace": "shop", "name": name, "resourceVersion": "17",
			"labels": map[string]any{"app": "blue", "app.kubernetes.io/name": "shop"},
		},
		"spec": map[string]any{"replicas": int64(3), "weight": 0.5, "on": true, "parts": []any{"x", map[string]any{"y": "z"}}, "none": nil},
	}}
}

// special is an object with fields that API types of Kubernetes rarely have.
type special struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Template runtime.RawExtension `json:"template"`
	Any      runtime.Object       `json:"-"`
	Sizes    map[int]string       `json:"sizes"`
	Array    [2]int               `json:"array"`
	Ratio    float64              `json:"ratio"`
	Nested   map[string]*special  `json:"nested"`
	Func     func()               `json:"-"`
	Plain    *unstructured.Unstructured
	hidden   hidden
}

type hidden struct {
	count    int
	quantity resource.Quantity
	when     time.Time
	words    map[string][]string
}

func newSpecial(name string) *special {
	return &special{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Template:   runtime.RawExtension{Raw: []byte(`{"a":1}`), Object: newPod("inner")},
		Any:        newUnstructured("inner"),
		Sizes:      map[int]string{1: "s", 2: "m"},
		Array:      [2]int{1, 2},
		Ratio:      0.5,
		Func:       func() {},
		Plain:      newUnstructured("plain"),
		hidden: hidden{
			count: 1, quantity: resource.MustParse("1"), when: time.Unix(1, 0), words: map[string][]string{"a": {"b"}},
		},
	}
}

func (s *special) DeepCopyObject() runtime.Object {
	out := *s
	out.ObjectMeta = *s.ObjectMeta.DeepCopy()
	out.Template = *s.Template.DeepCopy()
	out.Any = s.Any.DeepCopyObject()
	out.Sizes = map[int]string{}
	for key, value := range s.Sizes {
		out.Sizes[key] = value
	}
	if s.Nested != nil {
		out.Nested = map[string]*special{}
		for key, value := range s.Nested {
			out.Nested[key] = value.DeepCopyObject().(*special)
		}
	}
	out.Plain = s.Plain.DeepCopy()
	out.hidden.quantity = s.hidden.quantity.DeepCopy()
	out.hidden.words = map[string][]string{}
	for key, value := range s.hidden.words {
		out.hidden.words[key] = slices.Clone(value)
	}
	return &out
}

// fieldsV1 does without metav1.NewFieldsV1, which the oldest supported apimachinery lacks.
func fieldsV1(raw string) *metav1.FieldsV1 {
	fields := &metav1.FieldsV1{}
	if err := fields.UnmarshalJSON([]byte(raw)); err != nil {
		panic(err)
	}
	return fields
}
