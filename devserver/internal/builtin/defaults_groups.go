// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func addGroupDefaults(s *runtime.Scheme) {
	defaults(s, func(v *corev1.PersistentVolume) {
		set(&v.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		setPointer(&v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	})
	defaults(s, defaultLimitRange)
	defaults(s, func(p *schedulingv1.PriorityClass) { setPointer(&p.PreemptionPolicy, corev1.PreemptLowerPriority) })
	defaults(s, func(c *storagev1.StorageClass) {
		setPointer(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		setPointer(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	})
	defaults(s, defaultNetworkPolicy)
	defaults(s, func(h *autoscalingv2.HorizontalPodAutoscaler) {
		setPointer(&h.Spec.MinReplicas, 1)
		if len(h.Spec.Metrics) == 0 {
			h.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
		}
	})
	defaults(s, func(h *autoscalingv1.HorizontalPodAutoscaler) { setPointer(&h.Spec.MinReplicas, 1) })
	defaults(s, func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) })
	defaults(s, func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) })
}

// defaultLimitRange derives missing limits of containers from other limits.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		fill := func(to *corev1.ResourceList, from corev1.ResourceList) {
			for name, amount := range from {
				if _, ok := (*to)[name]; ok {
					continue
				}
				if *to == nil {
					*to = corev1.ResourceList{}
				}
				(*to)[name] = amount.DeepCopy()
			}
		}
		fill(&item.Default, item.Max)
		fill(&item.DefaultRequest, item.Default)
		fill(&item.DefaultRequest, item.Min)
	}
}

func defaultNetworkPolicy(n *networkingv1.NetworkPolicy) {
	if len(n.Spec.PolicyTypes) == 0 {
		n.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(n.Spec.Egress) > 0 {
			n.Spec.PolicyTypes = append(n.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	ports := func(all []networkingv1.NetworkPolicyPort) {
		for i := range all {
			setPointer(&all[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for _, rule := range n.Spec.Ingress {
		ports(rule.Ports)
	}
	for _, rule := range n.Spec.Egress {
		ports(rule.Ports)
	}
}

func defaultBinding(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	set(&role.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if s := &subjects[i]; s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			set(&s.APIGroup, rbacv1.GroupName)
		}
	}
}
