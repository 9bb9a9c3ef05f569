// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/devserver"
)

// withBuiltIns starts a server with built-in kinds.
func withBuiltIns(t testing.TB, crds ...string) *devserver.Server {
	t.Helper()
	opts := devserver.Options{BuiltInKinds: true}
	if len(crds) > 0 {
		opts.CRDs = append(opts.CRDs, boatCRD())
	}
	return start(t, opts)
}

// typed returns a client of built-in kinds that speaks protobuf, like the clients of components.
func typed(t testing.TB, s *devserver.Server) *kubernetes.Clientset {
	t.Helper()
	config := s.Config()
	config.WarningHandler = rest.NoWarnings{} // Endpoints are deprecated
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Built-in kinds are off unless they are asked for.
func TestNoBuiltInKindsWithoutOption(t *testing.T) {
	t.Parallel()
	s := start(t, devserver.Options{CRDs: crds{boatCRD()}})
	c, err := kubernetes.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a list of Pods returns %v, want NotFound", err)
	}
	b := boat("anywhere", "a")
	b.SetNamespace("no-such-namespace")
	if _, err := client(t, s).Resource(boats).Namespace("no-such-namespace").Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Errorf("a create in a namespace that isn't there returns %v", err)
	}
}

func TestBuiltInKindsInDiscovery(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t, "boats")
	for _, legacy := range []bool{false, true} {
		c, err := discovery.NewDiscoveryClientForConfig(s.Config())
		if err != nil {
			t.Fatal(err)
		}
		c.UseLegacyDiscovery = legacy
		groups, lists, err := c.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		if groups[0].Name != "" || len(groups[0].Versions) == 0 {
			t.Errorf("legacy=%v: the first group is %+v, want core", legacy, groups[0])
		}
		found := map[string]metav1.APIResource{}
		for _, list := range lists {
			for _, r := range list.APIResources {
				found[list.GroupVersion+" "+r.Name] = r
			}
		}
		for _, k := range readKinds(t) {
			name := k.gv().String() + " " + k.Resource
			r, ok := found[name]
			if !ok || r.Kind != k.kind() || r.Namespaced != (k.namespace() != "") || r.SingularName != strings.ToLower(k.kind()) {
				t.Errorf("legacy=%v: %s is %+v", legacy, name, r)
			}
			if _, ok := found[name+"/status"]; ok != k.Status {
				t.Errorf("legacy=%v: %s/status is there: %v, want %v", legacy, name, ok, k.Status)
			}
		}
		if _, ok := found["harbour.example.com/v1 boats"]; !ok {
			t.Errorf("legacy=%v: the CRD's kind is missing", legacy)
		}
		for _, want := range []string{
			"apps/v1 deployments/scale", "v1 namespaces/finalize", "v1 serviceaccounts/token", "v1 pods/binding", "v1 pods/eviction",
			"certificates.k8s.io/v1 certificatesigningrequests/approval", "authorization.k8s.io/v1 selfsubjectaccessreviews",
			"authorization.k8s.io/v1 selfsubjectrulesreviews", "authorization.k8s.io/v1 subjectaccessreviews",
			"authorization.k8s.io/v1 localsubjectaccessreviews", "authentication.k8s.io/v1 tokenreviews", "authentication.k8s.io/v1 selfsubjectreviews",
		} {
			if _, ok := found[want]; !ok {
				t.Errorf("legacy=%v: %s is missing", legacy, want)
			}
		}
	}
}

// The metadata of a new object is completed and validated alike for all kinds.
func TestBuiltInMetadata(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c := typed(t, s)
	generated, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
	if err != nil || !strings.HasPrefix(generated.Name, "a-") || len(generated.Name) <= len("a-") {
		t.Errorf("generateName returns %v, %v", generated, err)
	}
	for name, meta := range map[string]metav1.ObjectMeta{
		"a name":      {Name: "Capital_"},
		"a label":     {Name: "a", Labels: map[string]string{"-": "b"}},
		"an owner":    {Name: "a", OwnerReferences: []metav1.OwnerReference{{Name: "b"}}},
		"a finalizer": {Name: "a", Finalizers: []string{"b c"}},
	} {
		_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("%s that is wrong returns %v, want Invalid", name, err)
		}
	}
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "other"}}, metav1.CreateOptions{}); !apierrors.IsBadRequest(err) {
		t.Errorf("a namespace that isn't the request's returns %v, want BadRequest", err)
	}

	replicas := int32(3)
	d := newDeployment("d")
	d.Spec.Replicas = &replicas
	d, err = c.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{})
	if err != nil || d.Generation != 1 {
		t.Fatalf("created %v, %v", d, err)
	}
	d.Labels = map[string]string{"a": "b"}
	if d, err = c.AppsV1().Deployments("default").Update(t.Context(), d, metav1.UpdateOptions{}); err != nil || d.Generation != 1 {
		t.Fatalf("after a change of the labels: %v, %v", d, err)
	}
	d.Spec.Paused = true
	if d, err = c.AppsV1().Deployments("default").Update(t.Context(), d, metav1.UpdateOptions{}); err != nil || d.Generation != 2 {
		t.Fatalf("after a change of the spec: %v, %v", d, err)
	}
	d.ResourceVersion = ""
	if _, err = c.AppsV1().Deployments("default").Update(t.Context(), d, metav1.UpdateOptions{}); err != nil {
		t.Errorf("an update without resourceVersion returns %v", err)
	}
	dry, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || dry.UID == "" {
		t.Errorf("a dry run returns %v, %v", dry, err)
	}
	if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry run Get returns %v, want NotFound", err)
	}
}

// A CRD of a built-in group could never be used, so it is refused at once.
func TestCRDOfBuiltInGroup(t *testing.T) {
	t.Parallel()
	const want = "the built-in kinds of group coordination.k8s.io would hide its objects"
	hidden := boatCRD()
	hidden.Name, hidden.Spec.Group = "boats.coordination.k8s.io", "coordination.k8s.io"
	hidden.Annotations = map[string]string{"api-approved.kubernetes.io": "unapproved, it is a test"}
	dir := t.TempDir()
	for _, opts := range []devserver.Options{
		{BuiltInKinds: true, CRDs: crds{hidden}}, // given
		{Dir: dir, CRDs: crds{hidden}},           // served, since the kinds aren't
		{Dir: dir, BuiltInKinds: true},           // left by the run before
	} {
		s, err := devserver.Start(t.Context(), opts)
		if err == nil {
			s.Close()
		}
		if refused := err != nil; refused != opts.BuiltInKinds || refused && !strings.Contains(err.Error(), want) {
			t.Errorf("Start with %s returns %v", fmt.Sprintf("%+v", opts), err)
		}
	}
	s := withBuiltIns(t)
	if err := devserver.InstallCRDs(t.Context(), s.Config(), hidden); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("InstallCRDs returns %v", err)
	}
}

// toUnstructured is an object as the dynamic client wants it.
func toUnstructured(t testing.TB, obj runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// podSpec returns the smallest valid one.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec()}
}

func newDeployment(name string) *appsv1.Deployment {
	labels := map[string]string{"a": "b"}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()},
	}}
}

func newJob(name string) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: podSpec()}}}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return j
}
