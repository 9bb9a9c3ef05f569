// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// addDefaults registers kube-apiserver's defaults for fields that programs dereference or select
// by. They apply to objects written and to objects stored.
func addDefaults(s *runtime.Scheme) error {
	defaults(s, func(n *corev1.Namespace) {
		if n.Name != "" {
			metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelMetadataName, n.Name)
		}
	})
	defaults(s, func(o *corev1.Secret) { set(&o.Type, corev1.SecretTypeOpaque) })
	defaults(s, defaultService)
	defaults(s, func(p *corev1.Pod) { defaultPod(&p.Spec) })
	defaults(s, func(o *corev1.PersistentVolumeClaim) {
		setPointer(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	})
	//lint:ignore SA1019 clusters still have them
	defaults(s, func(e *corev1.Endpoints) {
		for i := range e.Subsets {
			for j := range e.Subsets[i].Ports {
				set(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
			}
		}
	})
	defaults(s, func(e *discoveryv1.EndpointSlice) {
		for i := range e.Ports {
			setPointer(&e.Ports[i].Name, "")
			setPointer(&e.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	})
	defaults(s, func(d *appsv1.Deployment) {
		setPointer(&d.Spec.Replicas, 1)
		defaultPod(&d.Spec.Template.Spec)
	})
	defaults(s, func(r *appsv1.ReplicaSet) {
		setPointer(&r.Spec.Replicas, 1)
		defaultPod(&r.Spec.Template.Spec)
	})
	defaults(s, func(o *appsv1.StatefulSet) {
		setPointer(&o.Spec.Replicas, 1)
		defaultPod(&o.Spec.Template.Spec)
	})
	defaults(s, func(d *appsv1.DaemonSet) { defaultPod(&d.Spec.Template.Spec) })
	defaults(s, defaultJob)
	defaults(s, func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds, w.Rules)
			setPointer(&w.ReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy)
		}
	})
	defaults(s, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
		for i := range c.Webhooks {
			w := &c.Webhooks[i]
			defaultWebhook(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds, w.Rules)
		}
	})
	return nil
}

func defaults[T any, P interface {
	*T
	runtime.Object
}](s *runtime.Scheme, f func(P)) {
	s.AddTypeDefaultingFunc(P(new(T)), func(obj any) { f(obj.(P)) })
}

func set[T comparable](to *T, value T) {
	if *to == *new(T) {
		*to = value
	}
}

func setPointer[T any](to **T, value T) {
	if *to == nil {
		*to = &value
	}
}

func defaultPod(p *corev1.PodSpec) {
	set(&p.RestartPolicy, corev1.RestartPolicyAlways)
	set(&p.DNSPolicy, corev1.DNSClusterFirst)
	set(&p.SchedulerName, corev1.DefaultSchedulerName)
	for _, containers := range [][]corev1.Container{p.InitContainers, p.Containers} {
		for i := range containers {
			for j := range containers[i].Ports {
				set(&containers[i].Ports[j].Protocol, corev1.ProtocolTCP)
			}
		}
	}
}

func defaultService(s *corev1.Service) {
	set(&s.Spec.Type, corev1.ServiceTypeClusterIP)
	set(&s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		set(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == (intstr.IntOrString{}) {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
}

func defaultJob(j *batchv1.Job) {
	if j.Spec.Completions == nil && j.Spec.Parallelism == nil {
		setPointer(&j.Spec.Completions, 1)
	}
	setPointer(&j.Spec.Parallelism, 1)
	setPointer(&j.Spec.BackoffLimit, 6)
	setPointer(&j.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	setPointer(&j.Spec.Suspend, false)
	defaultPod(&j.Spec.Template.Spec)
}

// defaultWebhook sets the fields needed for matching a webhook: a nil selector selects nothing.
func defaultWebhook(
	failure **admissionregistrationv1.FailurePolicyType, match **admissionregistrationv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, seconds **int32, rules []admissionregistrationv1.RuleWithOperations,
) {
	setPointer(failure, admissionregistrationv1.Fail)
	setPointer(match, admissionregistrationv1.Equivalent)
	setPointer(namespaces, metav1.LabelSelector{})
	setPointer(objects, metav1.LabelSelector{})
	setPointer(seconds, 10)
	for i := range rules {
		setPointer(&rules[i].Scope, admissionregistrationv1.AllScopes)
	}
}
