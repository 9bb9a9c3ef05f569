// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMutationPaths(t *testing.T) {
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
		make func() (object.Object, func())
		path string
	}{
		// Typed objects: names as in JSON.
		{pod(func(p *corev1.Pod) { p.Spec.Containers[2].Image = "c:2" }), ".spec.containers[2].image"},
		{pod(func(p *corev1.Pod) { p.Labels["app"] = "red" }), `.metadata.labels["app"]`},
		{pod(func(p *corev1.Pod) { p.Labels["a.b/c"] = "new" }), `.metadata.labels["a.b/c"]`},
		{pod(func(p *corev1.Pod) { delete(p.Labels, "tier") }), `.metadata.labels["tier"]`},
		{pod(func(p *corev1.Pod) { p.Labels = nil }), ".metadata.labels"},
		{pod(func(p *corev1.Pod) { p.Annotations = map[string]string{} }), ".metadata.annotations"},
		{pod(func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{} }), ".spec.volumes"},
		{pod(func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "x") }), ".metadata.finalizers[2]"},
		{pod(func(p *corev1.Pod) { p.Finalizers = p.Finalizers[:1] }), ".metadata.finalizers[1]"},
		{pod(func(p *corev1.Pod) { p.Finalizers = p.Finalizers[1:] }), ".metadata.finalizers[0]"},
		{pod(func(p *corev1.Pod) { *p.OwnerReferences[0].Controller = false }), ".metadata.ownerReferences[0].controller"},
		{pod(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), ".metadata.ownerReferences[0].controller"},
		{pod(func(p *corev1.Pod) { p.Spec.HostNetwork = true }), ".spec.hostNetwork"},
		{pod(func(p *corev1.Pod) { p.Generation++ }), ".metadata.generation"},
		{pod(func(p *corev1.Pod) { p.APIVersion = "" }), ".apiVersion"},
		{pod(func(p *corev1.Pod) { p.ResourceVersion = "18" }), ".metadata.resourceVersion"},
		{pod(func(p *corev1.Pod) { p.CreationTimestamp = metav1.Time{} }), ".metadata.creationTimestamp"},
		{pod(func(p *corev1.Pod) { p.CreationTimestamp.Time = p.CreationTimestamp.In(time.FixedZone("", 3600)) }), ".metadata.creationTimestamp"},
		{pod(func(p *corev1.Pod) { *p.ManagedFields[0].FieldsV1 = *fieldsV1(`{"g:spec":{}}`) }), ".metadata.managedFields[0].fieldsV1.Raw"},
		{pod(func(p *corev1.Pod) { p.Spec.Containers[2].LivenessProbe.HTTPGet.Port = intstr.FromInt32(81) }), ".spec.containers[2].livenessProbe.httpGet.port.IntVal"},
		{pod(func(p *corev1.Pod) {
			cpu := p.Spec.Containers[2].Resources.Requests[corev1.ResourceCPU]
			cpu.Add(resource.MustParse("1"))
			p.Spec.Containers[2].Resources.Requests[corev1.ResourceCPU] = cpu
		}), `.spec.containers[2].resources.requests["cpu"]`},
		{pod(func(p *corev1.Pod) {
			memory := p.Spec.Containers[2].Resources.Requests[corev1.ResourceMemory]
			memory.Format = resource.DecimalSI
			p.Spec.Containers[2].Resources.Requests[corev1.ResourceMemory] = memory
		}), `.spec.containers[2].resources.requests["memory"]`},
		{pod(func(p *corev1.Pod) { *p = corev1.Pod{} }), ".kind"},
		// Several differences: the first field and the lowest key count.
		{pod(func(p *corev1.Pod) {
			p.Status.Phase, p.Spec.NodeName = "x", "y"
			p.Labels["z"], p.Labels["m"], p.Labels["b"] = "", "", ""
		}), `.metadata.labels["b"]`},

		// Free-form objects: keys that are identifiers look like fields.
		{free(func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = int64(4) }), ".spec.replicas"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = "4" }), ".spec.replicas"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["weight"] = 0.25 }), ".spec.weight"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["none"] = "" }), ".spec.none"},
		{free(func(o map[string]any) { o["spec"].(map[string]any)["parts"].([]any)[1].(map[string]any)["y"] = nil }), ".spec.parts[1].y"},
		{free(func(o map[string]any) { delete(o["spec"].(map[string]any), "none") }), ".spec.none"},
		{free(func(o map[string]any) {
			o["metadata"].(map[string]any)["labels"].(map[string]any)["app.kubernetes.io/name"] = "x"
		}), `.metadata.labels["app.kubernetes.io/name"]`},
		{free(func(o map[string]any) { delete(o, "spec") }), ".spec"},

		{other(func(s *special) { s.Template.Raw[0] = '[' }), ".template.Raw"},
		{other(func(s *special) { s.Template.Object.(*corev1.Pod).Spec.NodeName = "" }), ".template.Object.spec.nodeName"},
		{other(func(s *special) { s.Any.(*unstructured.Unstructured).SetLabels(nil) }), ".Any.metadata.labels"},
		{other(func(s *special) { s.Plain.SetName("x") }), ".Plain.metadata.name"},
		{other(func(s *special) { s.Sizes[2] = "l" }), ".sizes[2]"},
		{other(func(s *special) { s.Array[1] = 3 }), ".array[1]"},
		{other(func(s *special) { s.Ratio = 0.25 }), ".ratio"},
		{other(func(s *special) { s.Func = nil }), ".Func"},
		{other(func(s *special) { s.hidden.count++ }), ".hidden.count"},
		{other(func(s *special) { s.hidden.quantity = resource.MustParse("2") }), ".hidden.quantity.i.value"},
		{other(func(s *special) { s.hidden.when = time.Unix(2, 0) }), ".hidden.when"},
		{other(func(s *special) { s.hidden.words["a"][0] = "c" }), `.hidden.words["a"][0]`},
	} {
		obj, mutate := c.make()
		pristine := obj.DeepCopyObject()
		if path, differs := compare(pristine, obj); differs {
			t.Fatalf("compare() before the mutation of %s = %q, want equal", c.path, path)
		}
		mutate()
		if path, differs := compare(pristine, obj); !differs || path != c.path {
			t.Errorf("compare() = %q, %v, want %s", path, differs, c.path)
		}
	}
}

// TestReadingIsNoMutation calls methods of readers, among them those that change unexported caches
// of API types.
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
		if path, differs := compare(pristine[n], obj); differs {
			t.Errorf("%T: %s", obj, path)
		}
	}
}

func TestObjectsOfOtherTypesDiffer(t *testing.T) {
	if path, differs := compare(newPod("blue"), newUnstructured("blue")); !differs || path != "." {
		t.Errorf("compare() = %q, %v, want the object itself", path, differs)
	}
	a, b := newSpecial("a"), newSpecial("a")
	a.Any, b.Any = newPod("x"), newUnstructured("x")
	if path, differs := compare(a, b); !differs || path != ".Any" {
		t.Errorf("compare() = %q, %v, want .Any", path, differs)
	}
}
