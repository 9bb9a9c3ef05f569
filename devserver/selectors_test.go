// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/informer-gen/informer-gen/devserver"
)

func TestFieldSelectorsOfBuiltIns(t *testing.T) {
	t.Parallel()
	s := withBuiltIns(t)
	c := typed(t, s)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }
	regarding := corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p1", UID: "u1", APIVersion: "v1", ResourceVersion: "5", FieldPath: "spec"}
	for _, obj := range []runtime.Object{
		&corev1.Pod{ObjectMeta: meta("p1"), Spec: corev1.PodSpec{
			NodeName: "n1", RestartPolicy: corev1.RestartPolicyNever, SchedulerName: "mine", ServiceAccountName: "a", HostNetwork: true,
			Containers: podSpec().Containers,
		}},
		&corev1.Pod{ObjectMeta: meta("p2"), Spec: corev1.PodSpec{NodeName: "n2", Containers: podSpec().Containers}},
		&corev1.Secret{ObjectMeta: meta("s1"), Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{"username": {}}},
		&corev1.Secret{ObjectMeta: meta("s2")},
		&corev1.Service{ObjectMeta: meta("v1"), Spec: corev1.ServiceSpec{ClusterIP: "None"}},
		&corev1.Service{ObjectMeta: meta("v2"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}}},
		&corev1.Event{ObjectMeta: meta("e1"), InvolvedObject: regarding, Reason: "Because", Type: "Warning", ReportingController: "me", Source: corev1.EventSource{Component: "you"}},
		&corev1.Event{ObjectMeta: meta("e2"), InvolvedObject: corev1.ObjectReference{Kind: "Node", Namespace: "default", Name: "n1"}},
		&batchv1.Job{ObjectMeta: meta("j1"), Spec: newJob("").Spec},
	} {
		createTyped(t, s, obj)
	}
	for _, obj := range []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Unschedulable: true}}, {ObjectMeta: metav1.ObjectMeta{Name: "n2"}}} {
		if _, err := c.CoreV1().Nodes().Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	requests := readKinds(t)["certificatesigningrequests"]
	if _, err := requests.objects(t, s).Create(t.Context(), requests.named("c1", nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := c.CoreV1().Pods("default").Get(t.Context(), "p1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}, NominatedNodeName: "n3"}
	if _, err := c.CoreV1().Pods("default").UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	events := []string{"involvedObject.kind=Pod", "involvedObject.name=p1", "involvedObject.uid=u1", "involvedObject.apiVersion=v1",
		"involvedObject.resourceVersion=5", "involvedObject.fieldPath=spec", "reason=Because", "reportingComponent=me", "source=you", "type=Warning"}
	newEvents := []string{"regarding.kind=Pod", "regarding.name=p1", "regarding.uid=u1", "regarding.apiVersion=v1",
		"regarding.resourceVersion=5", "regarding.fieldPath=spec", "reason=Because", "reportingController=me", "type=Warning"}
	for _, test := range []struct {
		gv, resource, want string
		selectors          []string
	}{
		{"v1", "pods", "p1", []string{"spec.nodeName=n1", "spec.restartPolicy=Never", "spec.schedulerName=mine", "spec.serviceAccountName=a",
			"spec.hostNetwork=true", "status.phase=Running", "status.podIP=10.0.0.1", "status.nominatedNodeName=n3", "metadata.namespace=default,metadata.name!=p2"}},
		{"v1", "secrets", "s1", []string{"type=" + string(corev1.SecretTypeBasicAuth)}},
		{"v1", "services", "v1", []string{"spec.clusterIP=None", "spec.type=ClusterIP"}},
		{"v1", "nodes", "n1", []string{"spec.unschedulable=true"}},
		{"v1", "namespaces", "default", []string{"metadata.name=default,status.phase=Active"}},
		{"batch/v1", "jobs", "j1", []string{"status.successful=0"}},
		{"certificates.k8s.io/v1", "certificatesigningrequests", "c1", []string{"spec.signerName=example.com/signer"}},
		{"v1", "events", "e1", events},
		{"events.k8s.io/v1", "events", "e1", newEvents},
	} {
		gv, err := schema.ParseGroupVersion(test.gv)
		if err != nil {
			t.Fatal(err)
		}
		all := client(t, s).Resource(gv.WithResource(test.resource))
		for _, selector := range test.selectors {
			list, err := all.List(t.Context(), metav1.ListOptions{FieldSelector: selector})
			if err != nil || !slices.Equal(names(list), []string{test.want}) {
				t.Errorf("%s with %s: %v, %v", test.resource, selector, list, err)
			}
		}
		for _, selector := range []string{"spec.unknown=a", "status.podIPs=a"} {
			if _, err := all.List(t.Context(), metav1.ListOptions{FieldSelector: selector}); !apierrors.IsBadRequest(err) {
				t.Errorf("%s with %s returns %v, want BadRequest", test.resource, selector, err)
			}
		}
	}
}

// createTyped creates an object with the client of its kind.
func createTyped(t *testing.T, s *devserver.Server, obj runtime.Object) {
	t.Helper()
	gvks, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := toUnstructured(t, obj)
	u.SetGroupVersionKind(gvks[0])
	gvr, _ := apimeta.UnsafeGuessKindToResource(gvks[0])
	if _, err := client(t, s).Resource(gvr).Namespace(u.GetNamespace()).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatalf("create %s %s: %v", gvr, u.GetName(), err)
	}
}
