// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMutationsAndTheirPaths(t *testing.T) {
	pod := func(mutate func(*corev1.Pod)) func() (object.Object, func()) {
		return func() (object.Object, func()) {
			p := newPod("blue")
			return p, func() { mutate(p) }
		}
	}
	free := func(mutate func(map[string]any)) func() (object.Object, func()) {
		return func() (object.Object, func()) {
			u := newUnstructured("blue")
			return u, func() { mutate(u.Object) }
		}
	}
	other := func(mutate func(*special)) func() (object.Object, func()) {
		return func() (object.Object, func()) {
			s := newSpecial("blue")
			return s, func() { mutate(s) }
		}
	}
	for _, c := range []struct {
		make                func() (object.Object, func())
		path, before, after string
	}{
		// Typed objects: names as in JSON.
		{pod(func(p *corev1.Pod) { p.Spec.Containers[2].Image = "c:2" }), ".spec.containers[2].image", `"c:1"`, `"c:2"`},
		{pod(func(p *corev1.Pod) { p.Labels["app"] = "red" }), `.metadata.labels["app"]`, `"blue"`, `"red"`},
		{pod(func(p *corev1.Pod) { p.Labels["a.b/c"] = "new" }), `.metadata.labels["a.b/c"]`, "(absent)", `"new"`},
		{pod(func(p *corev1.Pod) { delete(p.Labels, "tier") }), `.metadata.labels["tier"]`, `"front"`, "(absent)"},
		{pod(func(p *corev1.Pod) { p.Labels = nil }), ".metadata.labels", `{"app":"blue","tier":"front"}`, "null"},
		{pod(func(p *corev1.Pod) { p.Annotations = map[string]string{} }), ".metadata.annotations", "null", "{}"},
		{pod(func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{} }), ".spec.volumes", "null", "[]"},
		{pod(func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "x") }), ".metadata.finalizers[2]", "(absent)", `"x"`},
		{pod(func(p *corev1.Pod) { p.Finalizers = p.Finalizers[:1] }), ".metadata.finalizers[1]", `"samples.io/b"`, "(absent)"},
		{pod(func(p *corev1.Pod) { p.Finalizers = p.Finalizers[1:] }), ".metadata.finalizers[0]", `"samples.io/a"`, `"samples.io/b"`},
		{pod(func(p *corev1.Pod) { *p.OwnerReferences[0].Controller = false }), ".metadata.ownerReferences[0].controller", "true", "false"},
		{pod(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), ".metadata.ownerReferences[0].controller", "true", "null"},
		{pod(func(p *corev1.Pod) { p.Spec.HostNetwork = true }), ".spec.hostNetwork", "false", "true"},
		{pod(func(p *corev1.Pod) { p.Generation++ }), ".metadata.generation", "3", "4"},
		{pod(func(p *corev1.Pod) { p.APIVersion = "" }), ".apiVersion", `"v1"`, `""`},
		{pod(func(p *corev1.Pod) { p.ResourceVersion = "18" }), ".metadata.resourceVersion", `"17"`, `"18"`},
		{pod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{} }), ".metadata.creationTimestamp", `"2026-01-02T03:04:05Z"`, `"0001-01-01T00:00:00Z"`},
		{pod(func(p *corev1.Pod) { p.CreationTimestamp.Time = p.CreationTimestamp.In(time.FixedZone("", 3600)) }), ".metadata.creationTimestamp", `"2026-01-02T03:04:05Z"`, `"2026-01-02T04:04:05+01:00"`},
		{pod(func(p *corev1.Pod) { *p.ManagedFields[0].FieldsV1 = *fieldsV1(`{"g:spec":{}}`) }), ".metadata.managedFields[0].fieldsV1.Raw", `"{\"f:spec\":{}}"`, `"{\"g:spec\":{}}"`},
		{pod(func(p *corev1.Pod) { p.Spec.Containers[2].LivenessProbe.HTTPGet.Port = intstr.FromInt32(81) }), ".spec.containers[2].livenessProbe.httpGet.port.IntVal", "8080", "81"},
		{pod(func(p *corev1.Pod) {
			cpu := p.Spec.Containers[2].Resources.Requests[corev1.ResourceCPU]
			cpu.Add(resource.MustParse("1"))
			p.Spec.Containers[2].Resources.Requests[corev1.ResourceCPU] = cpu
		}), `.spec.containers[2].resources.requests["cpu"]`, `"1500m"`, `"2500m"`},
		{pod(func(p *corev1.Pod) {
			memory := p.Spec.Containers[2].Resources.Requests[corev1.ResourceMemory]
			memory.Format = resource.DecimalSI
			p.Spec.Containers[2].Resources.Requests[corev1.ResourceMemory] = memory
		}), `.spec.containers[2].resources.requests["memory"]`, `"1Gi"`, `"1073741824"`},
		{pod(func(p *corev1.Pod) { *p = corev1.Pod{} }), ".kind", `"Pod"`, `""`},
		// Of several differences, the first one of the first field, and of the lowest key.
		{pod(func(p *corev1.Pod) {
			p.Status.Phase, p.Spec.NodeName = "x", "y"
			p.Labels["z"], p.Labels["m"], p.Labels["b"] = "", "", ""
		}), `.metadata.labels["b"]`, "(absent)", `""`},

		// Free-form objects: keys that are names look like fields.
		{free(func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = int64(4) }), ".spec.replicas", "3", "4"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = "4" }), ".spec.replicas", "3", `"4"`},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["weight"] = 0.25 }), ".spec.weight", "0.5", "0.25"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["none"] = "" }), ".spec.none", "null", `""`},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["parts"].([]any)[1].(map[string]any)["y"] = nil }), ".spec.parts[1].y", `"z"`, "null"},
		{free(func(o map[string]any) { delete(o["spec"].(map[string]any), "none") }), ".spec.none", "null", "(absent)"},
		{free(func(o map[string]any) {
			o["metadata"].(map[string]any)["labels"].(map[string]any)["app.kubernetes.io/name"] = "x"
		}), `.metadata.labels["app.kubernetes.io/name"]`, `"shop"`, `"x"`},
		{free(func(o map[string]any) { delete(o, "spec") }), ".spec", `{"none":null,"on":true,"parts":["x",{"y":"z"}],"replicas":3,"weight":0.5}`, "(absent)"},

		{other(func(s *special) { s.Template.Raw[0] = '[' }), ".template.Raw", `"{\"a\":1}"`, `"[\"a\":1}"`},
		{other(func(s *special) { s.Template.Object.(*corev1.Pod).Spec.NodeName = "" }), ".template.Object.spec.nodeName", `"node-7"`, `""`},
		{other(func(s *special) { s.Any.(*unstructured.Unstructured).SetLabels(nil) }), ".Any.metadata.labels", `{"app":"blue","app.kubernetes.io/name":"shop"}`, "(absent)"},
		{other(func(s *special) { s.Plain.SetName("x") }), ".Plain.metadata.name", `"plain"`, `"x"`},
		{other(func(s *special) { s.Sizes[2] = "l" }), ".sizes[2]", `"m"`, `"l"`},
		{other(func(s *special) { s.Array[1] = 3 }), ".array[1]", "2", "3"},
		{other(func(s *special) { s.Ratio = math.Copysign(0, -1) }), ".ratio", "0.5", "-0"},
		{other(func(s *special) { s.Func = nil }), ".Func", "func", "nil"},
		{other(func(s *special) { s.hidden.count++ }), ".hidden.count", "1", "2"},
		{other(func(s *special) { s.hidden.quantity = resource.MustParse("2") }), ".hidden.quantity.i.value", "1", "2"},
		{other(func(s *special) { s.hidden.when = time.Unix(2, 0) }), ".hidden.when", "", ""},
		{other(func(s *special) { s.hidden.words["a"][0] = "c" }), `.hidden.words["a"][0]`, "b", "c"},
	} {
		obj, mutate := c.make()
		pristine := obj.DeepCopyObject()
		if d, differs := compare(pristine, obj); differs {
			t.Fatalf("before the mutation: %+v", d)
		}
		mutate()
		d, differs := compare(pristine, obj)
		if !differs {
			t.Errorf("%s: no difference", c.path)
			continue
		}
		if d.path != c.path {
			t.Errorf("path %s, want %s", d.path, c.path)
		}
		if c.path == ".Func" || c.path == ".hidden.when" { // contain addresses
			continue
		}
		if d.before != c.before || d.after != c.after {
			t.Errorf("%s: %s was %s and is %s; want %s and %s", c.path, "it", d.before, d.after, c.before, c.after)
		}
	}
}

// TestReadingIsNoMutation calls what changes unexported caches of API types, and much else that readers do.
func TestReadingIsNoMutation(t *testing.T) {
	pod, free, other := newPod("blue"), newUnstructured("blue"), newSpecial("blue")
	quantity := resource.MustParse("0.1")
	list := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"cpu": quantity}}}
	pointer := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(1<<40, resource.BinarySI)},
	}}}}}
	objects := []object.Object{pod, free, other, list, pointer}
	var pristine []object.Object
	for _, obj := range objects {
		pristine = append(pristine, obj.DeepCopyObject().(object.Object))
	}

	size := pointer.Spec.Volumes[0].EmptyDir.SizeLimit
	_ = size.String() // caches the text
	_ = size.AsDec()  // changes the representation
	_ = size.Cmp(quantity)
	_ = size.DeepCopy()
	for _, obj := range objects {
		if _, err := json.Marshal(obj); err != nil {
			t.Fatal(err)
		}
		_ = fmt.Sprintf("%+v %#v %s", obj, obj, obj)
		obj.DeepCopyObject()
		obj.GetLabels()
		obj.GetManagedFields()
		obj.GetCreationTimestamp()
	}
	_ = pod.CreationTimestamp.Local()
	_ = pod.CreationTimestamp.String()
	_, _ = pod.CreationTimestamp.Marshal()
	if _, err := pod.Marshal(); err != nil {
		t.Fatal(err)
	}
	_ = free.UnstructuredContent()
	_ = free.NewEmptyInstance()

	for n, obj := range objects {
		if d, differs := compare(pristine[n], obj); differs {
			t.Errorf("%T: %+v", obj, d)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	d, differs := compare(newPod("blue"), newUnstructured("blue"))
	if !differs || d.path != "." {
		t.Errorf("got %+v, %v", d, differs)
	}
	if d, differs := compare(nil, newPod("blue")); !differs || d.path != "." || d.before != "(absent)" {
		t.Errorf("got %+v, %v", d, differs)
	}
	if d, differs := compare(nil, nil); differs {
		t.Errorf("got %+v", d)
	}
	a, b := newSpecial("a"), newSpecial("a")
	a.Any, b.Any = newPod("x"), newUnstructured("x")
	if d, differs := compare(a, b); !differs || d.path != ".Any" {
		t.Errorf("got %+v, %v", d, differs)
	}
}

func TestNaNIsEqualToItself(t *testing.T) {
	a, b := newSpecial("a"), newSpecial("a")
	a.Ratio, b.Ratio = math.NaN(), math.NaN()
	a.Func, b.Func = nil, nil
	if d, differs := compare(a, b); differs {
		t.Errorf("got %+v", d)
	}
	b.Ratio = 1
	if d, _ := compare(a, b); d.path != ".ratio" || d.before != "NaN" {
		t.Errorf("got %+v", d)
	}
}

func TestLongValuesAreCut(t *testing.T) {
	a, b := newPod("a"), newPod("a")
	b.Spec.NodeName = strings.Repeat("ä", 1000)
	d, _ := compare(a, b)
	if len(d.after) > 200 || len(d.after) < 195 || !utf8.ValidString(d.after) || !strings.HasSuffix(d.after, "ä…") {
		t.Errorf("%d bytes: %s", len(d.after), d.after)
	}
}
