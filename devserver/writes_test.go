// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-gen/informer-gen/devserver"
)

// A status is written by its subresource, and by nothing else; nodes are born with one.
func TestStatusOfBuiltIns(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	d := newDeployment("d")
	d.Status.ReadyReplicas = 7
	d, err := c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
	if err != nil || d.Status.ReadyReplicas != 0 {
		t.Fatalf("created with status %+v, %v", d.Status, err)
	}
	d.Status.ReadyReplicas, d.Spec.Paused, d.Labels = 2, true, map[string]string{"a": "b"}
	d, err = c.AppsV1().Deployments("default").UpdateStatus(t.Context(), d, metav1.UpdateOptions{})
	if err != nil || d.Status.ReadyReplicas != 2 || d.Spec.Paused || d.Generation != 1 || len(d.Labels) != 0 {
		t.Fatalf("after UpdateStatus: %+v, %v", d, err)
	}
	d.Status.ReadyReplicas, d.Spec.Paused = 9, true
	d, err = c.AppsV1().Deployments("default").Update(t.Context(), d, metav1.UpdateOptions{})
	if err != nil || d.Status.ReadyReplicas != 2 || !d.Spec.Paused || d.Generation != 2 {
		t.Errorf("after Update: %+v, %v", d, err)
	}
	d, err = c.AppsV1().Deployments("default").Patch(t.Context(), "d", types.MergePatchType, []byte(`{"status":{"replicas":4}}`), metav1.PatchOptions{}, "status")
	if err != nil || d.Status.Replicas != 4 || d.Status.ReadyReplicas != 2 {
		t.Errorf("after a patch of the status: %+v, %v", d.Status, err)
	}

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{MachineID: "m"}}}
	if node, err = c.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil || node.Status.NodeInfo.MachineID != "m" {
		t.Errorf("a node was created with %+v, %v", node.Status, err)
	}
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), newPod("p"), metav1.CreateOptions{})
	if err != nil || pod.Status.Phase != corev1.PodPending {
		t.Errorf("a pod was created with %+v, %v", pod.Status, err)
	}
}

// A write of the status writes metadata too: labels but those of Deployments, owners but those of
// Pods.
func TestStatusWritesMetadata(t *testing.T) {
	t.Parallel()
	s, kinds := withBuiltIns(t), readKinds(t)
	for _, test := range []struct {
		resource, kind string
		labels, owners bool // can be changed
	}{
		{"services", "Service", true, true},
		{"pods", "Pod", true, false},
		{"deployments", "Deployment", false, true},
	} {
		objects := kinds[test.resource].objects(t, s)
		obj, err := objects.Create(t.Context(), kinds[test.resource].named("status", nil), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(test.kind, err)
		}
		obj.SetFinalizers([]string{"example.com/wait"})
		obj.SetLabels(map[string]string{"a": "b"})
		obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "owner", UID: "1"}})
		obj, err = objects.UpdateStatus(t.Context(), obj, metav1.UpdateOptions{})
		if err != nil {
			t.Fatal(test.kind, err)
		}
		if got := len(obj.GetFinalizers()) == 1; !got {
			t.Errorf("%s: the finalizers are %v", test.kind, obj.GetFinalizers())
		}
		if got := len(obj.GetLabels()) == 1; got != test.labels {
			t.Errorf("%s: the labels are %v", test.kind, obj.GetLabels())
		}
		if got := len(obj.GetOwnerReferences()) == 1; got != test.owners {
			t.Errorf("%s: the owners are %v", test.kind, obj.GetOwnerReferences())
		}
	}
}

func TestDefaultsOfBuiltIns(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	d, err := c.AppsV1().Deployments("default").Create(t.Context(), newDeployment("d"), metav1.CreateOptions{})
	if err != nil || *d.Spec.Replicas != 1 || d.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		t.Errorf("deployment %+v, %v", d.Spec, err)
	}
	j, err := c.BatchV1().Jobs("default").Create(t.Context(), newJob("j"), metav1.CreateOptions{})
	if err != nil || *j.Spec.Parallelism != 1 || *j.Spec.Completions != 1 || *j.Spec.BackoffLimit != 6 {
		t.Errorf("job %+v, %v", j.Spec, err)
	}
	s, err := c.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	if err != nil || s.Spec.Type != corev1.ServiceTypeClusterIP || s.Spec.Ports[0].Protocol != corev1.ProtocolTCP || s.Spec.Ports[0].TargetPort.IntValue() != 80 {
		t.Errorf("service %+v, %v", s.Spec, err)
	}
	secret, err := c.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"a": "text"}, Data: map[string][]byte{"a": {0}, "b": {1}},
	}, metav1.CreateOptions{})
	if err != nil || secret.Type != corev1.SecretTypeOpaque || string(secret.Data["a"]) != "text" || len(secret.Data["b"]) != 1 || secret.StringData != nil {
		t.Errorf("secret %+v, %v", secret, err)
	}
}

// A Pod on a node waits for the node, unless the deletion says otherwise.
func TestDeletionOfPods(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t)).CoreV1().Pods("default")
	long, none := int64(30), int64(0)
	for _, test := range []struct {
		name  string
		spec  corev1.PodSpec
		opts  metav1.DeleteOptions
		stays int64 // seconds; 0 means not at all
	}{
		{"no-node", corev1.PodSpec{TerminationGracePeriodSeconds: &long}, metav1.DeleteOptions{}, 0},
		{"no-period", corev1.PodSpec{NodeName: "n"}, metav1.DeleteOptions{}, 0},
		{"period", corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: &long}, metav1.DeleteOptions{}, 30},
		{"asked-for", corev1.PodSpec{NodeName: "n"}, metav1.DeleteOptions{GracePeriodSeconds: &long}, 30},
		{"negative", corev1.PodSpec{NodeName: "n"}, metav1.DeleteOptions{GracePeriodSeconds: new(int64(-1))}, 1},
		{"forced", corev1.PodSpec{NodeName: "n", TerminationGracePeriodSeconds: &long}, metav1.DeleteOptions{GracePeriodSeconds: &none}, 0},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: test.name}, Spec: test.spec}
		pod.Spec.Containers = podSpec().Containers
		if _, err := c.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), test.name, test.opts); err != nil {
			t.Fatal(err)
		}
		pod, err := c.Get(t.Context(), test.name, metav1.GetOptions{})
		stays := int64(0)
		if err == nil && pod.DeletionTimestamp != nil {
			stays = *pod.DeletionGracePeriodSeconds
		}
		if stays != test.stays || stays == 0 && !apierrors.IsNotFound(err) {
			t.Errorf("%s: after the deletion it is %+v, %v", test.name, pod.ObjectMeta, err)
		}
		if err := c.Delete(t.Context(), test.name, metav1.DeleteOptions{GracePeriodSeconds: &none}); test.stays > 0 && err != nil {
			t.Errorf("%s: what the kubelet does returns %v", test.name, err)
		}
	}
	left, err := c.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestPatchesOfBuiltIns(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	for name, c := range map[string]patcher{"protobuf": {s, true}, "JSON": {s, false}} {
		// containers merge by name where the patch is strategic, else the list is replaced
		for _, test := range []struct {
			typ   types.PatchType
			patch string
			want  []string
		}{
			{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:2"}]}}}}`, []string{"a:1", "b:2"}},
			{types.MergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:3"}]}}}}`, []string{"b:3"}},
			{types.JSONPatchType, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"b:4"}]`, []string{"b:4"}},
			{types.ApplyPatchType, `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"containers":[{"name":"c","image":"c:1"}]}}}}`, []string{"b:4", "c:1"}},
		} {
			got := c.images(t, test.typ, test.patch)
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: after %s the images are %v, want %v", name, test.typ, got, test.want)
			}
		}
	}
}

func TestApplyToBuiltIns(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t)).AppsV1().Deployments("default")
	deployment := func(image string) *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("d", "default").WithSpec(appsapply.DeploymentSpec().
			WithSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{"a": "b"})).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("c").WithImage(image)))))
	}
	d, err := c.Apply(t.Context(), deployment("c:1"), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil || len(d.ManagedFields) != 1 || d.ManagedFields[0].Manager != "one" || d.ManagedFields[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Fatalf("applied %+v, %v", d.ManagedFields, err)
	}
	if _, err := c.Apply(t.Context(), deployment("c:2"), metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) {
		t.Errorf("another manager's apply returns %v, want Conflict", err)
	}
	again, err := c.Apply(t.Context(), deployment("c:1"), metav1.ApplyOptions{FieldManager: "one"})
	if err != nil || again.ResourceVersion != d.ResourceVersion {
		t.Errorf("an apply that changes nothing makes %s of %s, %v", again.ResourceVersion, d.ResourceVersion, err)
	}
	if d, err = c.Apply(t.Context(), deployment("c:2"), metav1.ApplyOptions{FieldManager: "two", Force: true}); err != nil || d.Spec.Template.Spec.Containers[0].Image != "c:2" {
		t.Errorf("a forced apply returns %v, %v", d, err)
	}
	extracted, err := appsapply.ExtractDeployment(d, "two")
	if err != nil || *extracted.Spec.Template.Spec.Containers[0].Image != "c:2" {
		t.Errorf("extracted %+v, %v", extracted, err)
	}
	status := appsapply.Deployment("d", "default").WithStatus(appsapply.DeploymentStatus().WithReplicas(3).
		WithConditions(appsapply.DeploymentCondition().WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue)))
	if d, err = c.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: "three"}); err != nil || d.Status.Replicas != 3 || len(d.Status.Conditions) != 1 {
		t.Errorf("an apply of the status returns %+v, %v", d.Status, err)
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	apps := typed(t, withBuiltIns(t)).AppsV1()
	_, err := apps.Deployments("default").Create(t.Context(), newDeployment("d"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale, err := apps.Deployments("default").GetScale(t.Context(), "d", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 1 || scale.Status.Selector != "a=b" || scale.ResourceVersion == "" {
		t.Fatalf("scale %+v, %v", scale, err)
	}
	old := scale.DeepCopy()
	scale.Spec.Replicas = 5
	if scale, err = apps.Deployments("default").UpdateScale(t.Context(), "d", scale, metav1.UpdateOptions{FieldManager: "scaler"}); err != nil || scale.Spec.Replicas != 5 {
		t.Fatalf("updated %+v, %v", scale, err)
	}
	if _, err := apps.Deployments("default").UpdateScale(t.Context(), "d", old, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old state returns %v, want Conflict", err)
	}
	if _, err := apps.Deployments("default").UpdateScale(t.Context(), "d", &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: autoscalingv1.ScaleSpec{Replicas: -1},
	}, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("negative replicas return %v, want Invalid", err)
	}
	if _, err := apps.Deployments("default").UpdateScale(t.Context(), "absent", &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "absent"}}, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the scale of what isn't there returns %v, want NotFound", err)
	}
	if _, err := apps.Deployments("default").Patch(t.Context(), "d", types.MergePatchType, []byte(`{"spec":{"replicas":7}}`), metav1.PatchOptions{}, "scale"); err != nil {
		t.Errorf("a patch returns %v", err)
	}
	d, err := apps.Deployments("default").Get(t.Context(), "d", metav1.GetOptions{})
	if err != nil || *d.Spec.Replicas != 7 || d.Generation != 3 || d.Spec.Selector == nil {
		t.Errorf("the deployment is %+v, %v", d, err)
	}
	owned := slices.ContainsFunc(d.ManagedFields, func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "scale" })
	if !owned {
		t.Errorf("no manager owns what scale wrote: %+v", d.ManagedFields)
	}
}

// patcher patches a deployment of two containers, in one of the formats.
type patcher struct {
	server   *devserver.Server
	protobuf bool
}

func (p patcher) images(t *testing.T, typ types.PatchType, patch string) (images []string) {
	t.Helper()
	name := map[bool]string{true: "p", false: "j"}[p.protobuf]
	config := p.server.Config()
	if p.protobuf {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	d := newDeployment(name)
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}}
	if _, err := c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	options := metav1.PatchOptions{}
	if typ == types.ApplyPatchType {
		options.FieldManager = "applier"
	}
	d, err = c.AppsV1().Deployments("default").Patch(t.Context(), name, typ, []byte(patch), options)
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	for _, container := range d.Spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	return images
}

// An update without an address keeps the address. Controllers write such specs.
func TestServiceKeepsItsAddress(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t)).CoreV1().Services("default")
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Ports: []corev1.ServicePort{{Port: 80}}}}
	s, err := c.Create(t.Context(), s, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Spec = corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 81}}}
	s, err = c.Update(t.Context(), s, metav1.UpdateOptions{})
	if err != nil || s.Spec.ClusterIP != "10.96.0.7" || s.Spec.Ports[0].Port != 81 {
		t.Fatalf("Update without an address returns %+v, %v", s.Spec, err)
	}
	s.Spec.ClusterIP = "10.96.0.8"
	if _, err = c.Update(t.Context(), s, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "may not change once set") {
		t.Errorf("Update with another address returns %v, want Invalid", err)
	}
}
