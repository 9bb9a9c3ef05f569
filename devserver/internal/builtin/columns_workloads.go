// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func decimal[N int | int32 | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// valueOf returns the value of a pointer, or the zero value of nil.
func valueOf[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

func containersOf(p *corev1.PodSpec) (names, images string) {
	var n, i []string
	for _, c := range p.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}

func ratio(ready, of int32) string { return fmt.Sprintf("%d/%d", ready, of) }

var podColumns = columnsOf(func(p *corev1.Pod) []any {
	ready, restarts, state := podState(p)
	conditions := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range p.Status.Conditions {
		conditions[c.Type] = c.Status
	}
	gates := "<none>"
	if len(p.Spec.ReadinessGates) > 0 {
		open := 0
		for _, gate := range p.Spec.ReadinessGates {
			if conditions[gate.ConditionType] == corev1.ConditionTrue {
				open++
			}
		}
		gates = ratio(int32(open), int32(len(p.Spec.ReadinessGates)))
	}
	ip := p.Status.PodIP
	if len(p.Status.PodIPs) > 0 {
		ip = p.Status.PodIPs[0].IP
	}
	return []any{
		p.Name, ratio(int32(ready), int32(len(p.Spec.Containers))), state, restarts, age(p),
		orNone(ip), orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName), gates,
	}
}, "Name", "Ready", "Status", "Restarts", "Age", "-IP", "-Node", "-Nominated Node", "-Readiness Gates")

// podState summarises the containers as kube-apiserver does: the state of the first unfinished init
// container, or that of the first container with a reason, or the phase.
func podState(p *corev1.Pod) (ready int, restarts, state string) {
	count, last := int32(0), metav1.Time{}
	countRestarts := func(c corev1.ContainerStatus) {
		count += c.RestartCount
		if ended := c.LastTerminationState.Terminated; ended != nil && last.Before(&ended.FinishedAt) {
			last = ended.FinishedAt
		}
	}
	state = orNone(p.Status.Reason, string(p.Status.Phase))
	initializing := false
	for i, c := range p.Status.InitContainerStatuses {
		countRestarts(c)
		ended, waiting := c.State.Terminated, c.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case ended != nil:
			state = "Init:" + reasonOf(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			state = "Init:" + waiting.Reason
		default:
			state = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		initializing = true
		break
	}
	if !initializing {
		count, last = 0, metav1.Time{}
		running := false
		for _, c := range slices.Backward(p.Status.ContainerStatuses) {
			countRestarts(c)
			switch waiting, ended := c.State.Waiting, c.State.Terminated; {
			case waiting != nil && waiting.Reason != "":
				state = waiting.Reason
			case ended != nil:
				state = reasonOf(ended)
			case c.Ready && c.State.Running != nil:
				ready, running = ready+1, true
			}
		}
		if state == "Completed" && running { // the other containers go on
			state = "NotReady"
			if slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			}) {
				state = "Running"
			}
		}
	}
	if p.DeletionTimestamp != nil && p.Status.Reason == "NodeLost" {
		state = "Unknown"
	} else if p.DeletionTimestamp != nil {
		state = "Terminating"
	}
	restarts = decimal(count)
	if count > 0 && !last.IsZero() {
		restarts += " (" + since(last) + " ago)"
	}
	return ready, restarts, state
}

func reasonOf(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason != "":
		return ended.Reason
	case ended.Signal != 0:
		return "Signal:" + decimal(ended.Signal)
	}
	return "ExitCode:" + decimal(ended.ExitCode)
}

var deploymentColumns = columnsOf(func(d *appsv1.Deployment) []any {
	names, images := containersOf(&d.Spec.Template.Spec)
	return []any{
		d.Name, ratio(d.Status.ReadyReplicas, valueOf(d.Spec.Replicas)), d.Status.UpdatedReplicas, d.Status.AvailableReplicas, age(d),
		names, images, metav1.FormatLabelSelector(d.Spec.Selector),
	}
}, "Name", "Ready", "Up-to-date", "Available", "Age", "-Containers", "-Images", "-Selector")

var replicaSetColumns = columnsOf(func(r *appsv1.ReplicaSet) []any {
	names, images := containersOf(&r.Spec.Template.Spec)
	return []any{
		r.Name, valueOf(r.Spec.Replicas), r.Status.Replicas, r.Status.ReadyReplicas, age(r),
		names, images, metav1.FormatLabelSelector(r.Spec.Selector),
	}
}, "Name", "Desired", "Current", "Ready", "Age", "-Containers", "-Images", "-Selector")

var statefulSetColumns = columnsOf(func(s *appsv1.StatefulSet) []any {
	names, images := containersOf(&s.Spec.Template.Spec)
	return []any{s.Name, ratio(s.Status.ReadyReplicas, valueOf(s.Spec.Replicas)), age(s), names, images}
}, "Name", "Ready", "Age", "-Containers", "-Images")

var daemonSetColumns = columnsOf(func(d *appsv1.DaemonSet) []any {
	names, images := containersOf(&d.Spec.Template.Spec)
	s := d.Status
	return []any{
		d.Name, s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable,
		labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), age(d),
		names, images, metav1.FormatLabelSelector(d.Spec.Selector),
	}
}, "Name", "Desired", "Current", "Ready", "Up-to-date", "Available", "Node Selector", "Age", "-Containers", "-Images", "-Selector")

var jobColumns = columnsOf(func(j *batchv1.Job) []any {
	names, images := containersOf(&j.Spec.Template.Spec)
	completions := ratio(j.Status.Succeeded, 1)
	switch parallel := valueOf(j.Spec.Parallelism); {
	case j.Spec.Completions != nil:
		completions = ratio(j.Status.Succeeded, *j.Spec.Completions)
	case parallel > 1:
		completions = fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, parallel)
	}
	took := ""
	switch {
	case j.Status.StartTime != nil && j.Status.CompletionTime != nil:
		took = duration.HumanDuration(j.Status.CompletionTime.Sub(j.Status.StartTime.Time))
	case j.Status.StartTime != nil:
		took = duration.HumanDuration(time.Since(j.Status.StartTime.Time))
	}
	return []any{
		j.Name, jobState(j), completions, took, age(j),
		names, images, metav1.FormatLabelSelector(j.Spec.Selector),
	}
}, "Name", "Status", "Completions", "Duration", "Age", "-Containers", "-Images", "-Selector")

func jobState(j *batchv1.Job) string {
	is := func(t batchv1.JobConditionType) bool {
		return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == t && c.Status == corev1.ConditionTrue
		})
	}
	switch {
	case is(batchv1.JobComplete):
		return "Complete"
	case is(batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case is(batchv1.JobSuspended):
		return "Suspended"
	case is(batchv1.JobFailureTarget):
		return "FailureTarget"
	case is(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

var cronJobColumns = columnsOf(func(c *batchv1.CronJob) []any {
	template := c.Spec.JobTemplate.Spec
	names, images := containersOf(&template.Template.Spec)
	last := "<none>"
	if c.Status.LastScheduleTime != nil {
		last = since(*c.Status.LastScheduleTime)
	}
	suspend := "<unset>"
	if c.Spec.Suspend != nil {
		suspend = map[bool]string{true: "True", false: "False"}[*c.Spec.Suspend]
	}
	return []any{
		c.Name, c.Spec.Schedule, orNone(valueOf(c.Spec.TimeZone)), suspend, len(c.Status.Active), last, age(c),
		names, images, metav1.FormatLabelSelector(template.Selector),
	}
}, "Name", "Schedule", "Timezone", "Suspend", "Active", "Last Schedule", "Age", "-Containers", "-Images", "-Selector")

var budgetColumns = columnsOf(func(b *policyv1.PodDisruptionBudget) []any {
	text := func(n *intstr.IntOrString) string {
		if n == nil {
			return "N/A"
		}
		return n.String()
	}
	return []any{b.Name, text(b.Spec.MinAvailable), text(b.Spec.MaxUnavailable), b.Status.DisruptionsAllowed, age(b)}
}, "Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age")

var autoscalerColumns = columnsOf(func(h *autoscalingv2.HorizontalPodAutoscaler) []any {
	reference := h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name
	least := "<unset>"
	if h.Spec.MinReplicas != nil {
		least = decimal(*h.Spec.MinReplicas)
	}
	var targets []string
	for i, spec := range h.Spec.Metrics {
		var current autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			current = h.Status.CurrentMetrics[i]
		}
		targets = append(targets, metricState(spec, current))
	}
	return []any{h.Name, reference, orNone(firstOf(2, targets, ", ")), least, h.Spec.MaxReplicas, h.Status.CurrentReplicas, age(h)}
}, "Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age")

// metricState returns the measured and the wanted value of a metric.
func metricState(spec autoscalingv2.MetricSpec, status autoscalingv2.MetricStatus) string {
	name, target, current := "", (*autoscalingv2.MetricTarget)(nil), (*autoscalingv2.MetricValueStatus)(nil)
	switch {
	case spec.Resource != nil:
		name, target = string(spec.Resource.Name)+": ", &spec.Resource.Target
		if status.Resource != nil {
			current = &status.Resource.Current
		}
	case spec.ContainerResource != nil:
		name, target = string(spec.ContainerResource.Name)+": ", &spec.ContainerResource.Target
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
	case spec.Pods != nil:
		target = &spec.Pods.Target
		if status.Pods != nil {
			current = &status.Pods.Current
		}
	case spec.Object != nil:
		target = &spec.Object.Target
		if status.Object != nil {
			current = &status.Object.Current
		}
	case spec.External != nil:
		target = &spec.External.Target
		if status.External != nil {
			current = &status.External.Current
		}
	default:
		return "<unknown type>"
	}
	text := func(q *resource.Quantity) string {
		if q == nil {
			return "<unknown>"
		}
		return q.String()
	}
	if current == nil {
		current = &autoscalingv2.MetricValueStatus{}
	}
	switch {
	case target.AverageValue != nil && (spec.Object != nil || spec.External != nil):
		return text(current.AverageValue) + "/" + target.AverageValue.String() + " (avg)"
	case target.AverageValue != nil:
		return name + text(current.AverageValue) + "/" + target.AverageValue.String()
	case target.Value != nil:
		return text(current.Value) + "/" + target.Value.String()
	}
	measured, wanted := "<unknown>", "<auto>"
	if current.AverageUtilization != nil {
		measured = decimal(*current.AverageUtilization) + "%"
	}
	if target.AverageUtilization != nil {
		wanted = decimal(*target.AverageUtilization) + "%"
	}
	return name + measured + "/" + wanted
}
