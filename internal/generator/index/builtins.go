// SPDX-License-Identifier: Apache-2.0

package index

// builtIns are a Kubernetes API server's kinds with object metadata but without definitions, by
// group.
var builtIns = map[string]string{
	"": "Binding ComponentStatus ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim " +
		"Pod PodTemplate RangeAllocation ReplicationController ResourceQuota Secret Service ServiceAccount",
	"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration " +
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apiextensions.k8s.io":         "CustomResourceDefinition",
	"apiregistration.k8s.io":       "APIService",
	"apps":                         "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
	"authentication.k8s.io":        "SelfSubjectReview TokenRequest TokenReview",
	"authorization.k8s.io":         "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"autoscaling":                  "HorizontalPodAutoscaler Scale",
	"batch":                        "CronJob Job",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io":          "Lease LeaseCandidate",
	"discovery.k8s.io":             "EndpointSlice",
	"events.k8s.io":                "Event",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"internal.apiserver.k8s.io":    "StorageVersion",
	"lifecycle.k8s.io":             "Eviction EvictionRequest",
	"networking.k8s.io":            "IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR",
	"node.k8s.io":                  "RuntimeClass",
	"policy":                       "Eviction PodDisruptionBudget",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io": "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourcePoolStatusRequest " +
		"ResourceSlice",
	"scheduling.k8s.io":       "CompositePodGroup PodGroup PriorityClass Workload",
	"storage.k8s.io":          "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io": "StorageVersionMigration",
}
