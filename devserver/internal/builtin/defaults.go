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
	defaults(s, defaultDeployment)
	defaults(s, func(r *appsv1.ReplicaSet) {
		setPointer(&r.Spec.Replicas, 1)
		defaultPod(&r.Spec.Template.Spec)
	})
	defaults(s, defaultStatefulSet)
	defaults(s, defaultDaemonSet)
	defaults(s, func(j *batchv1.Job) { defaultJob(&j.Spec) })
	defaults(s, func(c *batchv1.CronJob) {
		set(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setPointer(&c.Spec.Suspend, false)
		setPointer(&c.Spec.SuccessfulJobsHistoryLimit, 3)
		setPointer(&c.Spec.FailedJobsHistoryLimit, 1)
		defaultJob(&c.Spec.JobTemplate.Spec)
	})
	addGroupDefaults(s)
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
	for i := range p.Volumes {
		if p.Volumes[i].VolumeSource == (corev1.VolumeSource{}) {
			p.Volumes[i].EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
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

func defaultDeployment(d *appsv1.Deployment) {
	setPointer(&d.Spec.Replicas, 1)
	setPointer(&d.Spec.RevisionHistoryLimit, 10)
	setPointer(&d.Spec.ProgressDeadlineSeconds, 600)
	set(&d.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setPointer(&d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setPointer(&d.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setPointer(&d.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	defaultPod(&d.Spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	setPointer(&s.Spec.Replicas, 1)
	setPointer(&s.Spec.RevisionHistoryLimit, 10)
	set(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	set(&s.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setPointer(&s.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setPointer(&s.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	for i := range s.Spec.VolumeClaimTemplates {
		setPointer(&s.Spec.VolumeClaimTemplates[i].Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	}
	defaultPod(&s.Spec.Template.Spec)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	setPointer(&d.Spec.RevisionHistoryLimit, 10)
	set(&d.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setPointer(&d.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	defaultPod(&d.Spec.Template.Spec)
}

func defaultJob(j *batchv1.JobSpec) {
	if j.Completions == nil && j.Parallelism == nil {
		setPointer(&j.Completions, 1)
	}
	setPointer(&j.Parallelism, 1)
	setPointer(&j.BackoffLimit, 6)
	setPointer(&j.CompletionMode, batchv1.NonIndexedCompletion)
	setPointer(&j.Suspend, false)
	defaultPod(&j.Template.Spec)
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
