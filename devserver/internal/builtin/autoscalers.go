// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"encoding/json"
	"maps"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// In autoscaling/v1 an autoscaler has the utilization of the CPU only. As in a cluster, these
// annotations have the rest, as JSON. They are never stored.
const (
	metricsAnnotation    = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorAnnotation   = "autoscaling.alpha.kubernetes.io/behavior"
	measuredAnnotation   = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation = "autoscaling.alpha.kubernetes.io/conditions"
)

// addAutoscalers registers conversions between autoscaling/v1 and v2, which is stored.
func addAutoscalers(s *runtime.Scheme) error {
	if err := s.AddConversionFunc(&autoscalingv2.HorizontalPodAutoscaler{}, &autoscalingv1.HorizontalPodAutoscaler{}, func(from, to any, _ conversion.Scope) error {
		return autoscalerToV1(from.(*autoscalingv2.HorizontalPodAutoscaler), to.(*autoscalingv1.HorizontalPodAutoscaler))
	}); err != nil {
		return err
	}
	if err := s.AddConversionFunc(&autoscalingv1.HorizontalPodAutoscaler{}, &autoscalingv2.HorizontalPodAutoscaler{}, func(from, to any, _ conversion.Scope) error {
		autoscalerOfV1(from.(*autoscalingv1.HorizontalPodAutoscaler), to.(*autoscalingv2.HorizontalPodAutoscaler))
		return nil
	}); err != nil {
		return err
	}
	return s.AddConversionFunc(&autoscalingv2.HorizontalPodAutoscalerList{}, &autoscalingv1.HorizontalPodAutoscalerList{}, func(from, to any, _ conversion.Scope) error {
		in, out := from.(*autoscalingv2.HorizontalPodAutoscalerList), to.(*autoscalingv1.HorizontalPodAutoscalerList)
		out.ListMeta = in.ListMeta
		out.Items = make([]autoscalingv1.HorizontalPodAutoscaler, len(in.Items))
		for i := range in.Items {
			if err := autoscalerToV1(&in.Items[i], &out.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func autoscalerToV1(in *autoscalingv2.HorizontalPodAutoscaler, out *autoscalingv1.HorizontalPodAutoscaler) error {
	*out = autoscalingv1.HorizontalPodAutoscaler{
		TypeMeta:   out.TypeMeta,
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
			CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
		},
	}
	var others []autoscalingv2.MetricSpec
	for _, m := range in.Spec.Metrics {
		switch isCPU := m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil; {
		case !isCPU:
			others = append(others, m)
		case out.Spec.TargetCPUUtilizationPercentage == nil:
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
	}
	for _, m := range in.Status.CurrentMetrics {
		if m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
	}
	var metrics []autoscalingv1.MetricSpec
	if err := convertMetrics(others, &metrics, "target", false); err != nil {
		return err
	}
	var measured []autoscalingv1.MetricStatus
	if err := convertMetrics(in.Status.CurrentMetrics, &measured, "current", false); err != nil {
		return err
	}
	out.Annotations = withoutRest(in.Annotations)
	for _, rest := range []struct {
		annotation string
		value      any
		there      bool
	}{
		{metricsAnnotation, metrics, len(metrics) > 0},
		{behaviorAnnotation, in.Spec.Behavior, in.Spec.Behavior != nil},
		{measuredAnnotation, measured, len(measured) > 0},
		{conditionsAnnotation, in.Status.Conditions, len(in.Status.Conditions) > 0},
	} {
		if !rest.there {
			continue
		}
		text, err := json.Marshal(rest.value)
		if err != nil {
			return err
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[rest.annotation] = string(text)
	}
	return nil
}

// autoscalerOfV1 ignores annotations that can't be read, as a cluster does.
func autoscalerOfV1(in *autoscalingv1.HorizontalPodAutoscaler, out *autoscalingv2.HorizontalPodAutoscaler) {
	*out = autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   out.TypeMeta,
		ObjectMeta: in.ObjectMeta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef),
			MinReplicas:    in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
			CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
		},
	}
	out.Annotations = withoutRest(in.Annotations)
	readRest(in, metricsAnnotation, func(metrics *[]autoscalingv1.MetricSpec) error {
		return convertMetrics(*metrics, &out.Spec.Metrics, "target", true)
	})
	if percent := in.Spec.TargetCPUUtilizationPercentage; percent != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*percent))
	}
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(defaultUtilization)}
	}
	readRest(in, behaviorAnnotation, func(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior) error {
		if *behavior != (autoscalingv2.HorizontalPodAutoscalerBehavior{}) {
			out.Spec.Behavior = behavior
		}
		return nil
	})
	if percent := in.Status.CurrentCPUUtilizationPercentage; percent != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{
			Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{
				Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: percent},
			},
		}}
	}
	readRest(in, measuredAnnotation, func(measured *[]autoscalingv1.MetricStatus) error {
		out.Status.CurrentMetrics = nil
		return convertMetrics(*measured, &out.Status.CurrentMetrics, "current", true)
	})
	readRest(in, conditionsAnnotation, func(conditions *[]autoscalingv2.HorizontalPodAutoscalerCondition) error {
		out.Status.Conditions = *conditions
		return nil
	})
}

const defaultUtilization = 80

func cpuMetric(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
		},
	}
}

// withoutRest returns a copy of annotations without those above.
func withoutRest(annotations map[string]string) map[string]string {
	annotations = maps.Clone(annotations)
	for _, name := range []string{metricsAnnotation, behaviorAnnotation, measuredAnnotation, conditionsAnnotation} {
		delete(annotations, name)
	}
	return annotations
}

func readRest[T any](in *autoscalingv1.HorizontalPodAutoscaler, annotation string, use func(*T) error) {
	value := new(T)
	if text, ok := in.Annotations[annotation]; ok && json.Unmarshal([]byte(text), value) == nil {
		_ = use(value)
	}
}

// metricFields has the fields of a metric by its source, with their paths in v1 and in v2. @ stands
// for target in specs, and for current in statuses.
var metricFields = map[string][][2]string{
	"object": {
		{"target", "describedObject"}, {"metricName", "metric.name"}, {"selector", "metric.selector"},
		{"@Value", "@.value"}, {"averageValue", "@.averageValue"},
	},
	"pods":              {{"metricName", "metric.name"}, {"selector", "metric.selector"}, {"@AverageValue", "@.averageValue"}},
	"resource":          {{"name", "name"}, {"@AverageUtilization", "@.averageUtilization"}, {"@AverageValue", "@.averageValue"}},
	"containerResource": {{"name", "name"}, {"container", "container"}, {"@AverageUtilization", "@.averageUtilization"}, {"@AverageValue", "@.averageValue"}},
	"external": {
		{"metricName", "metric.name"}, {"metricSelector", "metric.selector"},
		{"@Value", "@.value"}, {"@AverageValue", "@.averageValue"},
	},
}

// convertMetrics converts a list of metrics of one version to out, a list of the other one. values
// is target or current.
func convertMetrics(in, out any, values string, toV2 bool) error {
	var metrics []map[string]any
	if err := remarshal(in, &metrics); err != nil {
		return err
	}
	for _, metric := range metrics {
		for source, fields := range metricFields {
			if old, ok := metric[source].(map[string]any); ok {
				metric[source] = moved(old, fields, values, toV2)
			}
		}
	}
	return remarshal(metrics, out)
}

func moved(old map[string]any, fields [][2]string, values string, toV2 bool) map[string]any {
	metric := map[string]any{}
	for _, paths := range fields {
		from, to := paths[0], paths[1]
		if !toV2 {
			from, to = to, from
		}
		split := func(path string) []string { return strings.Split(strings.ReplaceAll(path, "@", values), ".") }
		if value, ok, _ := unstructured.NestedFieldNoCopy(old, split(from)...); ok {
			// It fails only below a field that is no object.
			_ = unstructured.SetNestedField(metric, value, split(to)...)
		}
	}
	if target, ok := metric["target"].(map[string]any); ok && toV2 {
		target["type"] = autoscalingv2.ValueMetricType
		if _, ok := target["averageUtilization"]; ok {
			target["type"] = autoscalingv2.UtilizationMetricType
		} else if _, ok := target["averageValue"]; ok {
			target["type"] = autoscalingv2.AverageValueMetricType
			if target["value"] == "0" { // v1 can't leave it out
				delete(target, "value")
			}
		}
	}
	return metric
}

func remarshal(in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, out)
}
