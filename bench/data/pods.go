// SPDX-License-Identifier: Apache-2.0

package data

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type workload struct {
	namespace    string
	app          string
	hash         string
	generateName string
	owner        types.UID
	labels       map[string]string
	annotations  map[string]string
	images       [2]string // of the containers
	digests      [2]string
	port         int32
	env          []corev1.EnvVar
	resources    [2]corev1.ResourceRequirements
	probe        [2]*corev1.Probe
	ready        int // seconds from start to readiness
	fields       string
}

var (
	teams    = []string{"cart", "shop", "find", "pay", "stock", "auth", "ship", "media", "price", "infra"}
	parts    = []string{"api", "worker", "edge", "jobs", "web", "sync"}
	stages   = []string{"prod", "staging", "canary", "dev"}
	requests = []string{"50m", "100m", "250m", "500m", "1", "2"}
	memories = []string{"64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "3Gi"}
)

func newWorkload(w int) workload {
	r := rand.New(rand.NewPCG(seedOfWorkloads, uint64(w)))
	team, stage := teams[r.IntN(len(teams))], stages[r.IntN(len(stages))]
	wl := workload{
		namespace: team + "-" + stage,
		app:       fmt.Sprintf("%s-%s-%d", team, parts[r.IntN(len(parts))], w),
		hash:      word(r, 9),
		owner:     newUID(r),
		port:      int32(8000 + r.IntN(1000)),
		ready:     4 + r.IntN(40),
	}
	wl.generateName = wl.app + "-" + wl.hash + "-"
	version := fmt.Sprintf("v%d.%d.%d", 1+r.IntN(4), r.IntN(40), r.IntN(20))
	wl.labels = map[string]string{
		"app":               wl.app,
		"version":           version,
		"pod-template-hash": wl.hash,
	}
	wl.annotations = map[string]string{"prometheus.io/port": strconv.Itoa(int(wl.port))}
	wl.images = [2]string{
		fmt.Sprintf("ghcr.io/example/%s:%s", wl.app, version),
		fmt.Sprintf("ghcr.io/example/envoy:v1.%d.%d", 28+r.IntN(6), r.IntN(6)),
	}
	for i := range wl.images {
		wl.digests[i] = wl.images[i][:strings.LastIndex(wl.images[i], ":")] + "@sha256:" + hexadecimal(r, 64)
		request := r.IntN(len(requests) - 1)
		memory := r.IntN(len(memories) - 1)
		wl.resources[i] = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(requests[request]), corev1.ResourceMemory: resource.MustParse(memories[memory])},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memories[memory+1])},
		}
	}
	wl.env = []corev1.EnvVar{
		{Name: "DB_HOST", Value: fmt.Sprintf("%s-db-%d.internal", team, w)},
		{Name: "LOG_LEVEL", Value: []string{"info", "debug", "warn"}[r.IntN(3)]},
	}
	wl.probe = [2]*corev1.Probe{
		{
			ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("http"), Scheme: "HTTP"}},
			TimeoutSeconds: int32(1 + r.IntN(5)), PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
		},
		nil,
	}
	wl.fields = wl.templateFields()
	return wl
}

// templateFields returns the fields that kube-controller-manager owns in Pods made from the
// template.
func (wl workload) templateFields() string {
	return `{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:version":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"` + string(wl.owner) + `\"}":{}}},` +
		`"f:spec":{"f:containers":{` +
		`"k:{\"name\":\"app\"}":{".":{},"f:env":{},"f:image":{},"f:name":{}},` +
		`"k:{\"name\":\"proxy\"}":{".":{},"f:image":{},"f:name":{}}}}}`
}

func kubeletFields(ip string) string {
	return `{"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:status":{}},"k:{\"type\":\"Ready\"}":{".":{},"f:status":{}}},` +
		`"f:containerStatuses":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"` + ip + `\"}":{".":{},"f:ip":{}}}}}`
}

// Pod returns the i-th Pod as a kube-apiserver serves it: about 4.9 KB of JSON. Its name, UID,
// resourceVersion, node, IPs, every timestamp, container IDs, the name of the token's volume, and
// in managedFields the times and the IP are its own. Later revisions differ in the resourceVersion,
// and as if the kubelet had restarted a container.
func (p *PodPlan) Pod(i, revision, resourceVersion int) *corev1.Pod {
	planned := p.pods[i]
	wl := &p.workloads[planned.workload]
	r := rand.New(rand.NewPCG(seedOfPods, planned.seed))
	node := r.IntN(p.nodes)
	ip := fmt.Sprintf("10.%d.%d.%d", 64+r.IntN(64), r.IntN(256), 1+r.IntN(254))
	created := epoch.Add(time.Duration(r.IntN(90*24*3600)) * time.Second)
	token := "kube-api-access-" + word(r, 5)
	version := oldVersion(planned.seed)
	if resourceVersion != 0 {
		version = resourceVersion
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              planned.name,
			GenerateName:      wl.generateName,
			Namespace:         wl.namespace,
			UID:               newUID(r),
			ResourceVersion:   strconv.Itoa(version),
			CreationTimestamp: metav1.NewTime(created),
			Labels:            wl.labels,
			Annotations:       wl.annotations,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: wl.app + "-" + wl.hash, UID: wl.owner,
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: wl.spec(token, fmt.Sprintf("node-%04d", node)),
	}
	host := fmt.Sprintf("10.%d.%d.%d", node>>16&255, node>>8&255, node&255)
	pod.Status = wl.status(r, created, ip, host)
	written := created.Add(time.Duration(wl.ready) * time.Second)
	if revision > 0 {
		written = restarted(pod, rand.New(rand.NewPCG(seedOfRevisions, planned.seed<<20+uint64(revision))), revision, written)
	}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			Time: new(metav1.NewTime(created)), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(wl.fields)},
		{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Subresource: "status",
			Time: new(metav1.NewTime(written)), FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(kubeletFields(ip))},
	}
	return pod
}

func (wl *workload) spec(token, node string) corev1.PodSpec {
	tokenMount := corev1.VolumeMount{Name: token, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}
	container := func(i int, name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: wl.images[i], Resources: wl.resources[i], ReadinessProbe: wl.probe[i],
			VolumeMounts:             []corev1.VolumeMount{tokenMount},
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			ImagePullPolicy:          corev1.PullIfNotPresent,
		}
	}
	app, proxy := container(0, "app"), container(1, "proxy")
	app.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: wl.port, Protocol: corev1.ProtocolTCP}}
	app.Env = wl.env
	return corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: token, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
					Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
					{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
			},
			DefaultMode: new(int32(420)),
		}}}},
		Containers:                    []corev1.Container{app, proxy},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            wl.app,
		DeprecatedServiceAccount:      wl.app,
		NodeName:                      node,
		SecurityContext:               &corev1.PodSecurityContext{},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Tolerations: []corev1.Toleration{
			{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
			{Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: new(int64(300))},
		},
		Priority:           new(int32(0)),
		EnableServiceLinks: new(true),
		PreemptionPolicy:   new(corev1.PreemptLowerPriority),
	}
}

func (wl *workload) status(r *rand.Rand, created time.Time, ip, host string) corev1.PodStatus {
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(seconds) * time.Second))
	}
	condition := func(t corev1.PodConditionType, seconds int) corev1.PodCondition {
		return corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: at(seconds)}
	}
	started := 1 + r.IntN(3)
	container := func(i int, name string) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: name, Ready: true, Started: new(true), Image: wl.images[i], ImageID: wl.digests[i],
			ContainerID: "containerd://" + hexadecimal(r, 64),
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(started + i)}},
		}
	}
	return corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodInitialized, 0),
			condition(corev1.PodReady, wl.ready), condition(corev1.ContainersReady, wl.ready), condition(corev1.PodScheduled, 0),
		},
		HostIP: host, HostIPs: []corev1.HostIP{{IP: host}},
		PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime:         new(at(0)),
		ContainerStatuses: []corev1.ContainerStatus{container(0, "app"), container(1, "proxy")},
		QOSClass:          corev1.PodQOSBurstable,
	}
}

// restarted changes the Pod as the kubelet does after its first container has exceeded its memory
// limit and is ready again. It returns the time of that.
func restarted(pod *corev1.Pod, r *rand.Rand, times int, ready time.Time) time.Time {
	again := ready.Add(time.Duration(times*24*3600+r.IntN(24*3600)) * time.Second)
	c := &pod.Status.ContainerStatuses[0]
	c.RestartCount = int32(times)
	c.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 137, Reason: "OOMKilled", StartedAt: c.State.Running.StartedAt, FinishedAt: metav1.NewTime(again.Add(-9 * time.Second)),
		ContainerID: c.ContainerID,
	}}
	c.ContainerID = "containerd://" + hexadecimal(r, 64)
	c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(again.Add(-7 * time.Second))}}
	for i := range pod.Status.Conditions {
		if t := pod.Status.Conditions[i].Type; t == corev1.PodReady || t == corev1.ContainersReady {
			pod.Status.Conditions[i].LastTransitionTime = metav1.NewTime(again)
		}
	}
	return again
}
