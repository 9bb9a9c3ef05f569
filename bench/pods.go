// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	podsPerReplicaSet = 20
	podsPerNode       = 100
	namespaces        = 50
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// fullPod returns the i-th Pod as a busy cluster has it: about 4 KB of JSON. The Pods of one ReplicaSet share labels,
// image and specification; names, UIDs, addresses, times and container IDs are each Pod's own. The same i gives the
// same Pod, whose resourceVersion is i+1.
func fullPod(i int) *corev1.Pod {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	set := i / podsPerReplicaSet
	of := rand.New(rand.NewPCG(11, uint64(set))) // what the ReplicaSet decides
	app := fmt.Sprintf("%s-%d", []string{"checkout", "catalog", "search", "payments", "inventory", "gateway"}[set%6], set)
	hash := token(of, 10)
	created := start.Add(time.Duration(r.IntN(40*24*3600)) * time.Second)
	image := fmt.Sprintf("registry.example.com/shop/%s:v1.%d.%d", app, of.IntN(40), of.IntN(20))

	pod := slimPod(i)
	pod.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
	pod.Name = fmt.Sprintf("%s-%s-%s", app, hash, token(r, 5))
	pod.GenerateName = fmt.Sprintf("%s-%s-", app, hash)
	pod.UID = uid(r)
	pod.CreationTimestamp = metav1.NewTime(created)
	pod.Labels = map[string]string{
		"app.kubernetes.io/name":       app,
		"app.kubernetes.io/version":    image[len(image)-7:],
		"app.kubernetes.io/managed-by": "Helm",
		"pod-template-hash":            hash,
	}
	pod.Annotations = map[string]string{
		"kubectl.kubernetes.io/restartedAt": start.Add(time.Duration(set) * time.Minute).Format(time.RFC3339),
		"prometheus.io/port":                "9090",
	}
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-" + hash, UID: uid(of),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: new(metav1.NewTime(created)), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fieldsOfSpec)},
		{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Subresource: "status",
			Time: new(metav1.NewTime(created.Add(9 * time.Second))), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fieldsOfStatus)},
	}
	pod.Spec = podSpec(pod.Spec.NodeName, app, image, of)
	pod.Status = podStatus(pod, image, created, r)
	return pod
}

// slimPod returns a Pod with what the store and the handlers look at: name, namespace, UID, resourceVersion, node.
func slimPod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            "checkout-6d4b75cb6d-" + strconv.Itoa(100_000+i),
			Namespace:       "team-" + strconv.Itoa(i/podsPerReplicaSet%namespaces),
			UID:             types.UID("00000000-0000-4000-8000-" + strconv.Itoa(100_000_000_000+i)),
			ResourceVersion: strconv.Itoa(i + 1),
			Generation:      1,
		},
		Spec: corev1.PodSpec{NodeName: nodeName(i, 200)},
	}
}

// slimPods returns n of them, podsPerNode on each node.
func slimPods(n int) []*corev1.Pod {
	nodes := max(1, n/podsPerNode)
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = slimPod(i)
		pods[i].Spec.NodeName = nodeName(i, nodes)
	}
	return pods
}

func nodeName(i, nodes int) string { return "node-" + strconv.Itoa(i%nodes) }

// changed returns pod as an update would bring it: another object that shares the parts, with this resourceVersion, and
// generation counting the updates.
func changed(pod *corev1.Pod, resourceVersion int, generation int64) *corev1.Pod {
	next := *pod
	next.ResourceVersion = strconv.Itoa(resourceVersion)
	next.Generation = generation
	return &next
}

func podSpec(node, app, image string, r *rand.Rand) corev1.PodSpec {
	return corev1.PodSpec{
		NodeName:                      node,
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            app,
		SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: new(true), FSGroup: new(int64(2000))},
		SchedulerName:                 "default-scheduler",
		Priority:                      new(int32(0)),
		EnableServiceLinks:            new(true),
		PreemptionPolicy:              new(corev1.PreemptLowerPriority),
		Tolerations: []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
			{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: app}, DefaultMode: new(int32(420))}}},
			{Name: "kube-api-access-" + token(r, 5), VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: new(int32(420)),
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
						Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				},
			}}},
		},
		Containers: []corev1.Container{{
			Name:  "app",
			Image: image,
			Args:  []string{"--listen=:8080", "--log-format=json"},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}, {Name: "metrics", ContainerPort: 9090, Protocol: "TCP"}},
			Env: []corev1.EnvVar{
				{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
				{Name: "DATABASE_URL", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: app}, Key: "database-url"}}},
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi")},
			},
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", ReadOnly: true, MountPath: "/etc/" + app},
				{Name: "kube-api-access", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
			},
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(8080), Scheme: "HTTP"}},
				TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
			},
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: "File",
			ImagePullPolicy:          "IfNotPresent",
		}},
	}
}

func podStatus(pod *corev1.Pod, image string, created time.Time, r *rand.Rand) corev1.PodStatus {
	ip := fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), 1+r.IntN(254))
	host := fmt.Sprintf("192.168.%d.%d", r.IntN(256), 1+r.IntN(254))
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(seconds) * time.Second))
	}
	condition := func(t corev1.PodConditionType, seconds int) corev1.PodCondition {
		return corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: at(seconds)}
	}
	return corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			condition("PodReadyToStartContainers", 2), condition("Initialized", 0), condition("Ready", 9),
			condition("ContainersReady", 9), condition("PodScheduled", 0),
		},
		HostIP: host, HostIPs: []corev1.HostIP{{IP: host}},
		PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime: new(at(0)),
		ContainerStatuses: []corev1.ContainerStatus{{
			Name:  "app",
			Ready: true, Started: new(true), RestartCount: int32(r.IntN(3)),
			Image:       image,
			ImageID:     image + "@sha256:" + token(rand.New(rand.NewPCG(13, uint64(len(image)))), 64),
			ContainerID: "containerd://" + token(r, 64),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(2 + r.IntN(5))}},
		}},
		QOSClass: corev1.PodQOSBurstable,
	}
}

// token returns n characters as hashes and names have them.
func token(r *rand.Rand, n int) string {
	const chars = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

func uid(r *rand.Rand) types.UID {
	return types.UID(fmt.Sprintf("%s-%s-4%s-8%s-%s", token(r, 8), token(r, 4), token(r, 3), token(r, 3), token(r, 12)))
}

const fieldsOfSpec = `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{}}},` +
	`"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:env":{".":{}},"f:image":{},"f:name":{}}}}}`

const fieldsOfStatus = `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:status":{},"f:type":{}}},"f:phase":{},"f:podIP":{}}}`
