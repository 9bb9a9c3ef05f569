// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// garbage deletes a Deployment in the background: its ReplicaSet and Pods follow. It deletes a Job
// in the foreground, after its Pods. It deletes another Deployment and orphans its ReplicaSet.
func (s *scenario) garbage() {
	ctx, deployments := s.t.Context(), s.client.AppsV1().Deployments(s.namespace)
	how := func(policy metav1.DeletionPropagation) metav1.DeleteOptions {
		return metav1.DeleteOptions{PropagationPolicy: ptr.To(policy)}
	}
	s.deploy()
	s.compute()
	s.ok(nil, deployments.Delete(ctx, "web", how(metav1.DeletePropagationBackground)))
	s.ok(nil, s.client.BatchV1().Jobs(s.namespace).Delete(ctx, "pi", how(metav1.DeletePropagationForeground)))
	for _, resource := range []string{"deployments", "replicasets", "jobs", "pods"} {
		s.awaitGone(resource, "")
	}
	s.record()
	s.deploy()
	s.ok(nil, deployments.Delete(ctx, "web", how(metav1.DeletePropagationOrphan)))
	s.awaitGone("deployments", "web")
	s.poll(func() string {
		sets, err := s.client.AppsV1().ReplicaSets(s.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		if len(sets.Items) != 1 || len(sets.Items[0].OwnerReferences) > 0 {
			return fmt.Sprintf("the ReplicaSets are %v", sets.Items)
		}
		return ""
	})
	s.awaitPods(3)
	s.awaitReplicaSets(3)
	s.record()
}

// namespaces deletes the namespace, which stays until its last object is gone.
func (s *scenario) namespaces() {
	ctx, namespaces, configMaps := s.t.Context(), s.client.CoreV1().Namespaces(), s.client.CoreV1().ConfigMaps(s.namespace)
	s.createService()
	s.deploy()
	s.awaitEndpoints(3, 80)
	s.ok(configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}}, metav1.CreateOptions{}))
	s.ok(nil, namespaces.Delete(ctx, s.namespace, metav1.DeleteOptions{}))
	for _, resource := range resources {
		s.awaitGone(resource.Resource, "")
	}
	s.poll(func() string {
		namespace, err := namespaces.Get(ctx, s.namespace, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceFinalizersRemaining && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Sprintf("the namespace has the conditions %v", namespace.Status.Conditions)
		}
		return ""
	})
	s.record()
	s.ok(configMaps.Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	s.poll(func() string {
		namespace, err := namespaces.Get(ctx, s.namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("the namespace has %v, error %v", namespace.Status, err)
	})
}

// awaitGone waits until an object is gone, or all objects of the resource if name is empty.
func (s *scenario) awaitGone(resource, name string) {
	s.t.Helper()
	at := slices.IndexFunc(resources, func(r schema.GroupVersionResource) bool { return r.Resource == resource })
	s.poll(func() string {
		list, err := s.all.Resource(resources[at]).Namespace(s.namespace).List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, obj := range list.Items {
			if name == "" || obj.GetName() == name {
				return fmt.Sprintf("there is %s %s, deleted at %v", resource, obj.GetName(), obj.GetDeletionTimestamp())
			}
		}
		return ""
	})
}
