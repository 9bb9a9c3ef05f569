// SPDX-License-Identifier: Apache-2.0

package devserver_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"
)

// manyMetrics has a metric of each source, with its state.
const manyMetrics = `
metadata: {name: web, annotations: {mine: kept}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 9
  behavior: {scaleDown: {stabilizationWindowSeconds: 7}}
  metrics:
  - {type: Object, object: {describedObject: {kind: Service, name: web}, metric: {name: hits, selector: {matchLabels: {a: b}}}, target: {type: Value, value: "10"}}}
  - {type: Object, object: {describedObject: {kind: Service, name: web}, metric: {name: hits}, target: {type: AverageValue, averageValue: 500m}}}
  - {type: Pods, pods: {metric: {name: queue, selector: {matchLabels: {a: b}}}, target: {type: AverageValue, averageValue: "3"}}}
  - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: main, target: {type: Utilization, averageUtilization: 50}}}
  - {type: External, external: {metric: {name: jobs, selector: {matchLabels: {a: b}}}, target: {type: Value, value: "4"}}}
  - {type: External, external: {metric: {name: jobs}, target: {type: AverageValue, averageValue: "4"}}}
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
status:
  observedGeneration: 1
  currentReplicas: 3
  desiredReplicas: 4
  conditions: [{type: AbleToScale, status: "True", reason: Ready, message: it can, lastTransitionTime: "2026-01-02T03:04:05Z"}]
  currentMetrics:
  - {type: Object, object: {describedObject: {kind: Service, name: web}, metric: {name: hits}, current: {value: "9"}}}
  - {type: Pods, pods: {metric: {name: queue}, current: {averageValue: "2"}}}
  - {type: Resource, resource: {name: cpu, current: {averageUtilization: 55, averageValue: 200m}}}
  - {type: ContainerResource, containerResource: {name: cpu, container: main, current: {averageUtilization: 40, averageValue: 100m}}}
  - {type: External, external: {metric: {name: jobs}, current: {value: "0", averageValue: "5"}}}
`

func TestAutoscalersOfBothVersions(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	v1, v2 := c.AutoscalingV1().HorizontalPodAutoscalers("default"), c.AutoscalingV2().HorizontalPodAutoscalers("default")
	var full autoscalingv2.HorizontalPodAutoscaler
	if err := yaml.UnmarshalStrict([]byte(manyMetrics), &full); err != nil {
		t.Fatal(err)
	}
	created, err := v2.Create(t.Context(), &full, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	created.Status = full.Status
	if created, err = v2.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	old, err := v1.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if old.Spec.MaxReplicas != 9 || *old.Spec.TargetCPUUtilizationPercentage != 60 || old.Status.DesiredReplicas != 4 || *old.Status.CurrentCPUUtilizationPercentage != 55 || len(old.Annotations) != 5 {
		t.Errorf("in v1 it is %s", toJSON(t, old))
	}
	const pods = `{"type":"Pods","pods":{"metricName":"queue","targetAverageValue":"3","selector":{"matchLabels":{"a":"b"}}}}`
	var metrics []autoscalingv1.MetricSpec
	if err := yaml.UnmarshalStrict([]byte(old.Annotations["autoscaling.alpha.kubernetes.io/metrics"]), &metrics); err != nil || len(metrics) != 7 || toJSON(t, metrics[2]) != pods {
		t.Errorf("the annotation has the metrics %s, %v", toJSON(t, metrics), err)
	}
	list, err := v1.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=web"})
	if err != nil || len(list.Items) != 1 || toJSON(t, list.Items[0].Spec) != toJSON(t, old.Spec) {
		t.Errorf("List() of v1 = %v, %v", list, err)
	}

	// Writes by v1 keep the rest.
	w, err := v2.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	old.Spec.MaxReplicas = 8
	if old, err = v1.Update(t.Context(), old, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = v1.UpdateStatus(t.Context(), old, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if e, ok := next(t, w); !ok || e.Type != watch.Modified {
		t.Errorf("the watch of v2 gets %v", e)
	}
	now, err := v2.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := created.DeepCopy()
	want.Spec.MaxReplicas = 8
	if toJSON(t, now.Spec) != toJSON(t, want.Spec) || toJSON(t, now.Status) != toJSON(t, want.Status) || toJSON(t, now.Annotations) != `{"mine":"kept"}` {
		t.Errorf("after an update by v1 it is\n%s\nwant the spec and status of\n%s", toJSON(t, now), toJSON(t, want))
	}

	patched, err := v1.Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(`{"spec":{"targetCPUUtilizationPercentage":70}}`), metav1.PatchOptions{})
	if err != nil || *patched.Spec.TargetCPUUtilizationPercentage != 70 {
		t.Errorf("Patch() of v1 = %v, %v", patched, err)
	}
	if now, err = v2.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || len(now.Spec.Metrics) != 8 || *now.Spec.Metrics[7].Resource.Target.AverageUtilization != 70 {
		t.Errorf("after a patch by v1 it is %s, %v", toJSON(t, now), err)
	}
}

// Annotations of a client that can't be read are dropped, as in a cluster.
func TestAutoscalerWithWrongAnnotations(t *testing.T) {
	t.Parallel()
	c := typed(t, withBuiltIns(t))
	wrong := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{
			"autoscaling.alpha.kubernetes.io/metrics":         `{"no": "list"}`,
			"autoscaling.alpha.kubernetes.io/behavior":        `{}`,
			"autoscaling.alpha.kubernetes.io/conditions":      `no JSON`,
			"autoscaling.alpha.kubernetes.io/current-metrics": `[{"type":"Object","object":{"target":"no object"}}]`,
		}},
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{Kind: "Deployment", Name: "web"}, MaxReplicas: 3},
	}
	if _, err := c.AutoscalingV1().HorizontalPodAutoscalers("default").Create(t.Context(), wrong, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := c.AutoscalingV2().HorizontalPodAutoscalers("default").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || len(got.Annotations) != 0 || got.Spec.Behavior != nil || len(got.Spec.Metrics) != 1 || *got.Spec.Metrics[0].Resource.Target.AverageUtilization != 80 {
		t.Errorf("in v2 it is %s, %v", toJSON(t, got), err)
	}
}
