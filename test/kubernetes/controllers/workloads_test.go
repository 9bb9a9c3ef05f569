// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

// deployments rolls out a Deployment, rolls out another image, and scales the Deployment down.
func (s *scenario) deployments() {
	s.deploy()
	s.record()
	s.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "web:2" })
	s.awaitRollout(3)
	s.record()
	s.changeDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) })
	s.awaitRollout(1)
	s.record()
}

// deploy makes a Deployment of three Pods.
func (s *scenario) deploy() {
	s.t.Helper()
	s.ok(s.client.AppsV1().Deployments(s.namespace).Create(s.t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: template(labels, "web:1", corev1.RestartPolicyAlways),
		},
	}, metav1.CreateOptions{}))
	s.awaitRollout(3)
}

func (s *scenario) changeDeployment(how func(*appsv1.Deployment)) {
	s.t.Helper()
	deployments := s.client.AppsV1().Deployments(s.namespace)
	s.ok(nil, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		d, err := deployments.Get(s.t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(d)
		_, err = deployments.Update(s.t.Context(), d, metav1.UpdateOptions{})
		return err
	}))
}

// awaitRollout waits until the Deployment has this number of Pods, all available and of its newest
// template, and until its ReplicaSets and their Pods have settled.
func (s *scenario) awaitRollout(pods int32) {
	s.t.Helper()
	s.awaitPods(int(pods))
	s.awaitReplicaSets(pods)
	s.poll(func() string {
		d, err := s.client.AppsV1().Deployments(s.namespace).Get(s.t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		now := d.Status
		reasons := map[appsv1.DeploymentConditionType]string{}
		for _, c := range now.Conditions {
			reasons[c.Type] = fmt.Sprint(c.Status, c.Reason)
		}
		counted := now.Replicas == pods && now.UpdatedReplicas == pods && now.ReadyReplicas == pods && now.AvailableReplicas == pods &&
			now.UnavailableReplicas == 0 && ptr.Deref(now.TerminatingReplicas, 0) == 0
		if now.ObservedGeneration != d.Generation || !counted ||
			reasons[appsv1.DeploymentProgressing] != "TrueNewReplicaSetAvailable" || reasons[appsv1.DeploymentAvailable] != "TrueMinimumReplicasAvailable" {
			return fmt.Sprintf("the Deployment of generation %d has %+v", d.Generation, now)
		}
		return ""
	})
}

// replicaSets makes a ReplicaSet, which adopts an existing Pod. It deletes one of its Pods, which
// the ReplicaSet replaces, and scales the ReplicaSet down.
func (s *scenario) replicaSets() {
	ctx, pods, sets := s.t.Context(), s.client.CoreV1().Pods(s.namespace), s.client.AppsV1().ReplicaSets(s.namespace)
	of := template(labels, "web:1", corev1.RestartPolicyAlways)
	s.ok(pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "adopted", Labels: labels}, Spec: of.Spec}, metav1.CreateOptions{}))
	s.awaitPods(1)
	s.ok(sets.Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: of},
	}, metav1.CreateOptions{}))
	s.awaitPods(3)
	s.awaitReplicaSets(3)
	if pod, err := pods.Get(ctx, "adopted", metav1.GetOptions{}); err != nil || metav1.GetControllerOf(pod) == nil {
		s.t.Errorf("the adopted Pod has the owners %v, error %v; want a controller", pod.OwnerReferences, err)
	}
	s.record()
	s.ok(nil, pods.Delete(ctx, "adopted", metav1.DeleteOptions{}))
	s.awaitGone("pods", "adopted")
	s.awaitPods(3)
	s.awaitReplicaSets(3)
	s.record()
	scale, err := sets.GetScale(ctx, "web", metav1.GetOptions{})
	s.ok(nil, err)
	scale.Spec.Replicas = 1
	s.ok(sets.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}))
	s.awaitPods(1)
	s.awaitReplicaSets(1)
	s.record()
}

// jobs runs a Job of five Pods, two at once.
func (s *scenario) jobs() {
	s.compute()
	s.record()
}

func (s *scenario) compute() {
	s.t.Helper()
	ctx, jobs := s.t.Context(), s.client.BatchV1().Jobs(s.namespace)
	s.ok(jobs.Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "pi"}, Spec: batchv1.JobSpec{
		Completions: ptr.To[int32](5), Parallelism: ptr.To[int32](2), Template: template(nil, "pi", corev1.RestartPolicyNever),
	}}, metav1.CreateOptions{}))
	s.poll(func() string {
		job, err := jobs.Get(ctx, "pi", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		now := job.Status
		complete := false
		for _, c := range now.Conditions {
			complete = complete || c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
		}
		uncounted := now.UncountedTerminatedPods != nil && len(now.UncountedTerminatedPods.Succeeded)+len(now.UncountedTerminatedPods.Failed) > 0
		if !complete || now.Succeeded != 5 || now.CompletionTime == nil || uncounted ||
			now.Active != 0 || ptr.Deref(now.Ready, 0) != 0 || ptr.Deref(now.Terminating, 0) != 0 {
			return fmt.Sprintf("the Job has %+v", now)
		}
		pods, err := s.client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=pi"})
		if err != nil {
			return err.Error()
		}
		if len(pods.Items) != 5 {
			return fmt.Sprintf("the Job has %d Pods", len(pods.Items))
		}
		for _, pod := range pods.Items {
			if pod.Status.Phase != corev1.PodSucceeded || len(pod.Finalizers) > 0 {
				return fmt.Sprintf("Pod %s is %s and has the finalizers %v", pod.Name, pod.Status.Phase, pod.Finalizers)
			}
		}
		return ""
	})
}
