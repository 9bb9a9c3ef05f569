// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
)

// BuiltIns are 50 kinds of Kubernetes.
var BuiltIns = func() (kinds []Kind) {
	for _, group := range []struct{ version, kinds string }{
		{"v1", "ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate " +
			"ReplicationController ResourceQuota Secret Service ServiceAccount"},
		{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration ValidatingAdmissionPolicy " +
			"ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
		{"apps/v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"},
		{"autoscaling/v2", "HorizontalPodAutoscaler"},
		{"batch/v1", "CronJob Job"},
		{"certificates.k8s.io/v1", "CertificateSigningRequest"},
		{"coordination.k8s.io/v1", "Lease"},
		{"discovery.k8s.io/v1", "EndpointSlice"},
		{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema PriorityLevelConfiguration"},
		{"networking.k8s.io/v1", "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR"},
		{"node.k8s.io/v1", "RuntimeClass"},
		{"policy/v1", "PodDisruptionBudget"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole ClusterRoleBinding Role RoleBinding"},
		{"scheduling.k8s.io/v1", "PriorityClass"},
		{"storage.k8s.io/v1", "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"},
	} {
		for _, name := range strings.Fields(group.kinds) {
			resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(group.version, name))
			kinds = append(kinds, Kind{name, resource, true})
		}
	}
	return kinds
}()

// NewBuiltIn returns the i-th of n objects of one of [BuiltIns]. It has metadata and nothing else,
// and a namespace even if its kind should have none.
func NewBuiltIn(k Kind, i, n int) runtime.Object {
	obj, err := kubernetes.Scheme.New(k.GVK())
	if err != nil {
		panic(err) // a name above is wrong
	}
	obj.GetObjectKind().SetGroupVersionKind(k.GVK())
	r := rand.New(rand.NewPCG(seedOfBuiltIns, uint64(slices.Index(BuiltIns, k)*n+i)))
	team := teams[r.IntN(len(teams))]
	name := fmt.Sprintf("%s-%05d", team, i)
	of := obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
	*of = crMeta(r, i, n, name, map[string]string{"app.kubernetes.io/instance": name, "app.kubernetes.io/part-of": team}, routeWriters[0])
	return obj
}
