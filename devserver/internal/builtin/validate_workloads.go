// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podsOf checks the selector and the template of a kind whose Pods run for ever. The text about
// empty selectors names the kind by what.
func (c *checks) podsOf(what string, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	at := specPath.Child("selector")
	switch {
	case selector == nil && what == "daemonset": // which just selects nothing
	case selector == nil:
		c.missing(at, "")
	default:
		c.selector(at, selector)
		if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			c.invalid(at, selector, "empty selector is invalid for "+what)
		}
	}
	c.selects(selector, template)
	c.template(specPath.Child("template"), template)
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways && policy != "" {
		c.errs = append(c.errs, field.NotSupported(specPath.Child("template", "spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
}

// selects checks that a selector matches the labels of a template.
func (c *checks) selects(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err == nil && !parsed.Empty() && !parsed.Matches(labels.Set(template.Labels)) {
		c.invalid(specPath.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`")
	}
}

func validateDeployment(c *checks, d, old *appsv1.Deployment) {
	s := &d.Spec
	nonNegative(c, specPath.Child("replicas"), s.Replicas)
	c.podsOf("deployment", s.Selector, &s.Template)
	at := specPath.Child("strategy")
	switch r := s.Strategy.RollingUpdate; s.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if r != nil {
			c.forbid(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")
		}
	case appsv1.RollingUpdateDeploymentStrategyType: // whose default isn't nil
		c.rolling(at.Child("rollingUpdate"), r.MaxUnavailable, r.MaxSurge)
	default:
		c.errs = append(c.errs, field.NotSupported(at, s.Strategy, []appsv1.DeploymentStrategyType{
			appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType,
		}))
	}
	nonNegative(c, specPath.Child("minReadySeconds"), &s.MinReadySeconds)
	nonNegative(c, specPath.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)
	nonNegative(c, specPath.Child("progressDeadlineSeconds"), s.ProgressDeadlineSeconds)
	if s.ProgressDeadlineSeconds != nil && *s.ProgressDeadlineSeconds <= s.MinReadySeconds {
		c.invalid(specPath.Child("progressDeadlineSeconds"), *s.ProgressDeadlineSeconds, "must be greater than minReadySeconds")
	}
	if old != nil {
		c.immutable(specPath.Child("selector"), s.Selector, old.Spec.Selector)
	}
}

func (c *checks) rolling(path *field.Path, unavailable, surge *intstr.IntOrString) {
	c.amount(path.Child("maxUnavailable"), unavailable)
	c.amount(path.Child("maxSurge"), surge)
	if isZero(unavailable) && isZero(surge) {
		c.invalid(path.Child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0")
	}
	if percent, ok := percentOf(unavailable); ok && percent > 100 {
		c.invalid(path.Child("maxUnavailable"), unavailable, "must not be greater than 100%")
	}
}

func validateReplicaSet(c *checks, r, old *appsv1.ReplicaSet) {
	nonNegative(c, specPath.Child("replicas"), r.Spec.Replicas)
	nonNegative(c, specPath.Child("minReadySeconds"), &r.Spec.MinReadySeconds)
	c.podsOf("deployment", r.Spec.Selector, &r.Spec.Template) // kube-apiserver's text says so
	if old != nil {
		c.immutable(specPath.Child("selector"), r.Spec.Selector, old.Spec.Selector)
	}
}

func validateDaemonSet(c *checks, d, old *appsv1.DaemonSet) {
	c.podsOf("daemonset", d.Spec.Selector, &d.Spec.Template)
	nonNegative(c, specPath.Child("minReadySeconds"), &d.Spec.MinReadySeconds)
	nonNegative(c, specPath.Child("revisionHistoryLimit"), d.Spec.RevisionHistoryLimit)
	at := specPath.Child("updateStrategy")
	switch r := d.Spec.UpdateStrategy.RollingUpdate; d.Spec.UpdateStrategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
	case appsv1.RollingUpdateDaemonSetStrategyType: // whose default isn't nil
		c.amount(at.Child("rollingUpdate", "maxUnavailable"), r.MaxUnavailable)
		c.amount(at.Child("rollingUpdate", "maxSurge"), r.MaxSurge)
	default:
		c.errs = append(c.errs, field.NotSupported(at, d.Spec.UpdateStrategy, []appsv1.DaemonSetUpdateStrategyType{
			appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType,
		}))
	}
	if old != nil {
		c.immutable(specPath.Child("selector"), d.Spec.Selector, old.Spec.Selector)
	}
}

func validateStatefulSet(c *checks, s, old *appsv1.StatefulSet) {
	nonNegative(c, specPath.Child("replicas"), s.Spec.Replicas)
	nonNegative(c, specPath.Child("minReadySeconds"), &s.Spec.MinReadySeconds)
	nonNegative(c, specPath.Child("revisionHistoryLimit"), s.Spec.RevisionHistoryLimit)
	c.podsOf("statefulset", s.Spec.Selector, withClaims(&s.Spec))
	supported(c, specPath.Child("updateStrategy", "type"), s.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
	if policy := s.Spec.PodManagementPolicy; policy != "" && policy != appsv1.OrderedReadyPodManagement && policy != appsv1.ParallelPodManagement {
		c.invalid(specPath.Child("podManagementPolicy"), policy, fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement))
	}
	if old == nil {
		return
	}
	fixed := old.Spec.DeepCopy()
	fixed.Replicas, fixed.Ordinals, fixed.Template, fixed.UpdateStrategy = s.Spec.Replicas, s.Spec.Ordinals, s.Spec.Template, s.Spec.UpdateStrategy
	fixed.MinReadySeconds, fixed.RevisionHistoryLimit = s.Spec.MinReadySeconds, s.Spec.RevisionHistoryLimit
	fixed.PersistentVolumeClaimRetentionPolicy = s.Spec.PersistentVolumeClaimRetentionPolicy
	if !equality.Semantic.DeepEqual(*fixed, s.Spec) {
		c.forbid(specPath, "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "+
			"'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")
	}
}

// withClaims returns a StatefulSet's template with the volumes of its Pods. A claim replaces a
// volume of its name.
func withClaims(s *appsv1.StatefulSetSpec) *corev1.PodTemplateSpec {
	t := s.Template.DeepCopy()
	for _, claim := range s.VolumeClaimTemplates {
		t.Spec.Volumes = slices.DeleteFunc(t.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == claim.Name })
		t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	return t
}

func validateJob(c *checks, j, old *batchv1.Job) {
	c.jobSpec(specPath, &j.Spec)
	c.selector(specPath.Child("selector"), j.Spec.Selector)
	if j.Spec.Selector == nil {
		c.missing(specPath.Child("selector"), "")
	}
	c.selects(j.Spec.Selector, &j.Spec.Template)
	if len(validation.IsDNS1123Label(j.Name)) > 0 && valueOf(j.Spec.CompletionMode) == batchv1.IndexedCompletion {
		c.matches(field.NewPath("metadata", "name"), j.Name, validation.IsDNS1123Label)
	}
	if old == nil {
		return
	}
	c.immutable(specPath.Child("selector"), j.Spec.Selector, old.Spec.Selector)
	if valueOf(old.Spec.CompletionMode) != batchv1.IndexedCompletion {
		c.immutable(specPath.Child("completions"), j.Spec.Completions, old.Spec.Completions)
	}
	c.immutable(specPath.Child("completionMode"), j.Spec.CompletionMode, old.Spec.CompletionMode)
	c.immutable(specPath.Child("backoffLimitPerIndex"), j.Spec.BackoffLimitPerIndex, old.Spec.BackoffLimitPerIndex)
	template := j.Spec.Template.DeepCopy()
	// Queue controllers decide where a suspended Job runs.
	if valueOf(old.Spec.Suspend) && old.Status.StartTime == nil {
		was := &old.Spec.Template
		template.Labels, template.Annotations = was.Labels, was.Annotations
		template.Spec.NodeSelector, template.Spec.Affinity = was.Spec.NodeSelector, was.Spec.Affinity
		template.Spec.Tolerations, template.Spec.SchedulingGates = was.Spec.Tolerations, was.Spec.SchedulingGates
	}
	c.immutable(specPath.Child("template"), *template, old.Spec.Template)
}

// jobSpec checks a Job's spec except for its selector, which a CronJob's template lacks.
func (c *checks) jobSpec(path *field.Path, s *batchv1.JobSpec) {
	nonNegative(c, path.Child("parallelism"), s.Parallelism)
	nonNegative(c, path.Child("completions"), s.Completions)
	nonNegative(c, path.Child("activeDeadlineSeconds"), s.ActiveDeadlineSeconds)
	nonNegative(c, path.Child("backoffLimit"), s.BackoffLimit)
	nonNegative(c, path.Child("ttlSecondsAfterFinished"), s.TTLSecondsAfterFinished)
	if mode := valueOf(s.CompletionMode); mode != "" {
		supported(c, path.Child("completionMode"), mode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
		if mode == batchv1.IndexedCompletion && s.Completions == nil {
			c.missing(path.Child("completions"), fmt.Sprintf("when completion mode is %s", mode))
		}
	}
	c.template(path.Child("template"), &s.Template)
	at := path.Child("template", "spec", "restartPolicy")
	switch s.Template.Spec.RestartPolicy {
	case corev1.RestartPolicyAlways, "":
		c.missing(at, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))
	}
}

func validateCronJob(c *checks, j, _ *batchv1.CronJob) {
	s := &j.Spec
	if at := specPath.Child("schedule"); c.required(at, s.Schedule) {
		if _, err := cron.ParseStandard(s.Schedule); err != nil {
			c.invalid(at, s.Schedule, err.Error())
		}
		if strings.Contains(s.Schedule, "TZ") {
			c.invalid(at, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
		}
	}
	if s.TimeZone != nil {
		at := specPath.Child("timeZone")
		switch {
		case *s.TimeZone == "":
			c.invalid(at, s.TimeZone, "timeZone must be nil or non-empty string")
		case strings.EqualFold(*s.TimeZone, "Local"):
			c.invalid(at, s.TimeZone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
		default:
			if _, err := time.LoadLocation(*s.TimeZone); err != nil {
				c.invalid(at, s.TimeZone, err.Error())
			}
		}
	}
	nonNegative(c, specPath.Child("startingDeadlineSeconds"), s.StartingDeadlineSeconds)
	supported(c, specPath.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)
	nonNegative(c, specPath.Child("successfulJobsHistoryLimit"), s.SuccessfulJobsHistoryLimit)
	nonNegative(c, specPath.Child("failedJobsHistoryLimit"), s.FailedJobsHistoryLimit)
	at := specPath.Child("jobTemplate", "spec")
	c.jobSpec(at, &s.JobTemplate.Spec)
	if s.JobTemplate.Spec.Selector != nil {
		c.invalid(at.Child("selector"), s.JobTemplate.Spec.Selector, "`selector` will be auto-generated")
	}
	if valueOf(s.JobTemplate.Spec.ManualSelector) {
		c.errs = append(c.errs, field.NotSupported(at.Child("manualSelector"), s.JobTemplate.Spec.ManualSelector, []string{"nil", "false"}))
	}
	// Jobs get a suffix of eleven characters.
	if len(j.Name) > validation.DNS1035LabelMaxLength-11 {
		c.invalid(field.NewPath("metadata", "name"), j.Name, "must be no more than 52 characters")
	}
}
